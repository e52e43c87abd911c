package dev.warpwright.cli.hostile;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Changes protocol buffers without a schema so that they stay protocol buffers: fields are left
 * out, doubled, exchanged, numbers and names replaced, and all lengths fit again.
 */
final class ProtoMutator {
  private static final int MAX_DEPTH = 12;

  /** A field: a message if it has fields itself, else a number or bytes. */
  private static final class Field {
    int number;
    final int wire;
    byte[] bytes;
    final @Nullable List<Field> fields;

    Field(int number, int wire, byte[] bytes, @Nullable List<Field> fields) {
      this.number = number;
      this.wire = wire;
      this.bytes = bytes;
      this.fields = fields;
    }
  }

  private final Random random;

  private ProtoMutator(Random random) {
    this.random = random;
  }

  /** A message with one to four changes. */
  static byte[] mutate(Random random, byte[] message) {
    List<Field> fields = parse(message, 0);
    if (fields == null) {
      throw new IllegalArgumentException("no protocol buffer");
    }
    ProtoMutator mutator = new ProtoMutator(random);
    for (int i = random.nextInt(4); i >= 0; i--) {
      mutator.change(fields);
    }
    return write(fields);
  }

  private void change(List<Field> root) {
    List<List<Field>> messages = new ArrayList<>();
    messages(root, messages);
    List<Field> fields = Odd.of(random, messages);
    if (fields.isEmpty()) {
      return;
    }
    int at = random.nextInt(fields.size());
    Field field = fields.get(at);
    switch (random.nextInt(8)) {
      case 0 -> fields.remove(at);
      case 1 -> fields.add(at, copy(field));
      case 2 -> {
        List<Field> other = Odd.of(random, messages);
        if (!other.isEmpty() && field.fields == null) {
          fields.set(at, copy(Odd.of(random, other)));
        }
      }
      case 3 -> field.number = 1 + random.nextInt(20);
      default -> value(field, messages);
    }
  }

  /** Whole: a message that held itself would have no end. */
  private static Field copy(Field field) {
    List<Field> inside = field.fields;
    if (inside != null) {
      inside = new ArrayList<>(inside);
      inside.replaceAll(ProtoMutator::copy);
    }
    return new Field(field.number, field.wire, field.bytes, inside);
  }

  private void value(Field field, List<List<Field>> messages) {
    if (field.wire == 0) {
      field.bytes = varint(random.nextBoolean() ? Odd.number(random) : random.nextInt(20));
    } else if (field.wire == 2 && field.fields == null && field.bytes.length < 200) {
      List<byte[]> names = new ArrayList<>();
      for (List<Field> message : messages) {
        for (Field f : message) {
          if (f.wire == 2 && f.fields == null && f.bytes.length < 60) {
            names.add(f.bytes);
          }
        }
      }
      field.bytes =
          random.nextInt(3) == 0
              ? Odd.word(random).getBytes(StandardCharsets.UTF_8)
              : Odd.of(random, names);
    } else if (field.fields == null && field.bytes.length > 0) {
      byte[] bytes = field.bytes.clone();
      if (random.nextBoolean()) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      } else if (field.wire == 2) {
        bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
      }
      field.bytes = bytes;
    }
  }

  private static void messages(List<Field> fields, List<List<Field>> found) {
    found.add(fields);
    for (Field field : fields) {
      if (field.fields != null) {
        messages(field.fields, found);
      }
    }
  }

  private static @Nullable List<Field> parse(byte[] bytes, int depth) {
    List<Field> fields = new ArrayList<>();
    int[] at = {0};
    while (at[0] < bytes.length) {
      long key = read(bytes, at);
      int number = (int) (key >>> 3);
      int wire = (int) key & 7;
      if (key < 0 || number < 1 || number > 64) {
        return null;
      }
      int begin = at[0];
      switch (wire) {
        case 0 -> {
          if (read(bytes, at) == -1 && at[0] > bytes.length) {
            return null;
          }
          fields.add(new Field(number, wire, Arrays.copyOfRange(bytes, begin, at[0]), null));
        }
        case 1, 5 -> {
          at[0] += wire == 1 ? 8 : 4;
          if (at[0] > bytes.length) {
            return null;
          }
          fields.add(new Field(number, wire, Arrays.copyOfRange(bytes, begin, at[0]), null));
        }
        case 2 -> {
          long length = read(bytes, at);
          if (length < 0 || length > bytes.length - at[0]) {
            return null;
          }
          byte[] content = Arrays.copyOfRange(bytes, at[0], at[0] + (int) length);
          at[0] += (int) length;
          List<Field> inside =
              depth < MAX_DEPTH && content.length > 1 ? parse(content, depth + 1) : null;
          boolean same = inside != null && Arrays.equals(write(inside), content);
          fields.add(new Field(number, wire, content, same ? inside : null));
        }
        default -> {
          return null;
        }
      }
    }
    return at[0] == bytes.length ? fields : null;
  }

  /** The number at a place, -1 with the place behind the end if there is none. */
  private static long read(byte[] bytes, int[] at) {
    long value = 0;
    for (int shift = 0; shift < 64 && at[0] < bytes.length; shift += 7) {
      byte b = bytes[at[0]++];
      value |= (long) (b & 0x7f) << shift;
      if (b >= 0) {
        return value;
      }
    }
    at[0] = bytes.length + 1;
    return -1;
  }

  static byte[] varint(long value) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      out.write((int) (rest & 0x7f | 0x80));
      rest >>>= 7;
    }
    out.write((int) rest);
    return out.toByteArray();
  }

  private static byte[] write(List<Field> fields) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (Field field : fields) {
      byte[] content = field.fields == null ? field.bytes : write(field.fields);
      out.writeBytes(varint((long) field.number << 3 | field.wire));
      if (field.wire == 2) {
        out.writeBytes(varint(content.length));
      }
      out.writeBytes(content);
    }
    return out.toByteArray();
  }
}
