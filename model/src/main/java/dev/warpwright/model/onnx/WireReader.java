package dev.warpwright.model.onnx;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Reads the fields of one protobuf message. Strict where protobuf is lenient: a length that runs
 * past the end of its message, a varint of more than ten bytes, a group or a name that is not UTF-8
 * ends the import with an error that names the file and the byte.
 *
 * <pre>{@code
 * while (reader.next()) {
 *   switch (reader.field()) {
 *     case 1 -> name = reader.string();
 *     default -> reader.skip();
 *   }
 * }
 * }</pre>
 */
final class WireReader {
  static final int VARINT = 0;
  static final int FIXED64 = 1;
  static final int BYTES = 2;
  static final int FIXED32 = 5;

  /** The longest name, in bytes. */
  private static final int MAX_STRING = 64 * 1024;

  /**
   * The most messages and names in one file. Each costs up to a hundred times its encoded size on
   * the heap, so a file of many empty ones must not grow without a limit.
   */
  private static final int MAX_ITEMS = 2_000_000;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** What all readers of one file share. */
  private static final class Input {
    final String file;
    final MemorySegment bytes;
    final ExternalData external;
    int items;

    Input(String file, MemorySegment bytes, ExternalData external) {
      this.file = file;
      this.bytes = bytes;
      this.external = external;
    }
  }

  private final Input input;
  private final String message;
  private final long end;
  private long position;
  private int field;
  private int wireType;

  private WireReader(Input input, String message, long start, long end) {
    this.input = input;
    this.message = message;
    this.position = start;
    this.end = end;
  }

  /**
   * A reader of a whole file.
   *
   * @param file its name in messages
   * @param external the files beside it
   */
  static WireReader of(String file, MemorySegment bytes, ExternalData external) {
    return new WireReader(new Input(file, bytes, external), "model", 0, bytes.byteSize());
  }

  /** The files beside the one that is read. */
  ExternalData external() {
    return input.external;
  }

  /** Moves to the next field; false at the end of the message. */
  boolean next() {
    if (position == end) {
      return false;
    }
    long tag = rawVarint();
    field = (int) (tag >>> 3);
    wireType = (int) (tag & 7);
    if (tag >>> 32 != 0 || field == 0) {
      throw corrupt("field tag " + Long.toUnsignedString(tag) + " is not valid");
    }
    switch (wireType) {
      case VARINT, FIXED64, BYTES, FIXED32 -> {}
      default -> throw corrupt("wire type " + wireType + " of field " + field + " is not valid");
    }
    return true;
  }

  int field() {
    return field;
  }

  int wireType() {
    return wireType;
  }

  /** The bytes that are left in this message. */
  long remaining() {
    return end - position;
  }

  long varint() {
    expect(VARINT);
    return rawVarint();
  }

  float float32() {
    expect(FIXED32);
    return packedFloat32();
  }

  /**
   * The next element of a packed field of floats; call only while {@link #remaining} is positive.
   */
  float packedFloat32() {
    need(4);
    float value = Float.intBitsToFloat(input.bytes.get(INT, position));
    position += 4;
    return value;
  }

  double float64() {
    expect(FIXED64);
    need(8);
    double value = Double.longBitsToDouble(input.bytes.get(LONG, position));
    position += 8;
    return value;
  }

  /** A name. It must be UTF-8; it may contain anything else. */
  String string() {
    MemorySegment bytes = bytes();
    if (bytes.byteSize() > MAX_STRING) {
      throw corrupt("a name of " + bytes.byteSize() + " bytes is too long");
    }
    countItem();
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(bytes.toArray(ValueLayout.JAVA_BYTE)))
          .toString();
    } catch (CharacterCodingException e) {
      throw corrupt("a name is not valid UTF-8");
    }
  }

  /** The content of a length-delimited field, not copied. */
  MemorySegment bytes() {
    long start = enterBytes();
    return input.bytes.asSlice(start, position - start);
  }

  /** A reader of a nested message; {@code name} is the kind of message for errors. */
  WireReader message(String name) {
    long start = enterBytes();
    countItem();
    return new WireReader(input, name, start, position);
  }

  /** A reader over the elements of a packed repeated field, for {@link #packedVarint}. */
  WireReader packed() {
    long start = enterBytes();
    return new WireReader(input, message, start, position);
  }

  /**
   * The next element of a packed field of varints; call only while {@link #remaining} is positive.
   */
  long packedVarint() {
    return rawVarint();
  }

  void skip() {
    switch (wireType) {
      case VARINT -> rawVarint();
      case FIXED64 -> advance(8);
      case FIXED32 -> advance(4);
      default -> enterBytes();
    }
  }

  /** Counts one thing that costs heap; too many end the import. */
  void countItem() {
    if (++input.items > MAX_ITEMS) {
      throw error(
          "the file has more than " + MAX_ITEMS + " parts, which is more than a model needs");
    }
  }

  /** An error that names the file and the place. */
  UserError corrupt(String what) {
    return error("corrupt ONNX at byte " + position + " (" + message + "): " + what);
  }

  /** An error that names the file. */
  UserError error(String what) {
    return new UserError(Names.printable(input.file) + ": " + what);
  }

  private long enterBytes() {
    expect(BYTES);
    long length = rawVarint();
    if (length < 0 || length > remaining()) {
      throw error(
          String.format(
              Locale.ROOT,
              "truncated or corrupt ONNX at byte %d (%s): %s bytes announced, %d left",
              position,
              message,
              Long.toUnsignedString(length),
              remaining()));
    }
    long start = position;
    position += length;
    return start;
  }

  private void expect(int type) {
    if (wireType != type) {
      throw corrupt("field " + field + " has wire type " + wireType + " instead of " + type);
    }
  }

  private void advance(int bytes) {
    need(bytes);
    position += bytes;
  }

  private void need(int bytes) {
    if (remaining() < bytes) {
      throw error("truncated ONNX: ends within a number at byte " + position);
    }
  }

  private long rawVarint() {
    long value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      need(1);
      byte b = input.bytes.get(ValueLayout.JAVA_BYTE, position++);
      value |= (long) (b & 0x7F) << shift;
      if (b >= 0) {
        return value;
      }
    }
    throw corrupt("a number is longer than ten bytes");
  }
}
