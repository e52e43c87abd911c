package dev.warpwright.model.npy;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.base.files.AtomicFile;
import dev.warpwright.base.files.FileBytes;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.npy.HeaderParser.BadHeader;
import dev.warpwright.model.npy.HeaderParser.Header;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Reads and writes NumPy array files. */
public final class NpyFile {
  private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};

  /** NumPy itself refuses longer headers. */
  private static final int MAX_HEADER = 10_000;

  private static final int HEADER_ALIGNMENT = 64;

  /** Bytes that are converted at a time; a multiple of each element's size. */
  private static final int CHUNK = 1 << 13;

  private NpyFile() {}

  /**
   * Reads an array; a large file is mapped, not copied.
   *
   * @throws UserError if the file cannot be read or is no array of a supported type
   */
  public static NpyArray read(Path path) {
    MemorySegment bytes = FileBytes.read(path);
    try {
      return parse(bytes);
    } catch (BadHeader e) {
      throw new UserError(Names.printable(path.toString()) + ": " + e.getMessage());
    }
  }

  private static NpyArray parse(MemorySegment bytes) throws BadHeader {
    if (bytes.byteSize() < 10 || bytes.asSlice(0, 6).mismatch(MemorySegment.ofArray(MAGIC)) >= 0) {
      throw new BadHeader("is no .npy file (or is truncated); write one with numpy.save");
    }
    int version = bytes.get(ValueLayout.JAVA_BYTE, 6);
    if (version < 1 || version > 3) {
      throw new BadHeader("has .npy version " + version + "; supported: 1 to 3");
    }
    int lengthBytes = version == 1 ? 2 : 4;
    long headerStart = 8L + lengthBytes;
    if (bytes.byteSize() < headerStart) {
      throw new BadHeader("is truncated");
    }
    long length = 0;
    for (int i = lengthBytes - 1; i >= 0; i--) {
      length = length << 8 | Byte.toUnsignedLong(bytes.get(ValueLayout.JAVA_BYTE, 8L + i));
    }
    if (length > MAX_HEADER) {
      throw new BadHeader("has a header of " + length + " bytes, which is too long");
    }
    if (length > bytes.byteSize() - headerStart) {
      throw new BadHeader("is truncated within its header");
    }
    byte[] header = bytes.asSlice(headerStart, length).toArray(ValueLayout.JAVA_BYTE);
    String text =
        new String(header, version == 3 ? StandardCharsets.UTF_8 : StandardCharsets.ISO_8859_1);
    return array(HeaderParser.parse(text), bytes.asSlice(headerStart + length));
  }

  private static NpyArray array(Header header, MemorySegment data) throws BadHeader {
    String descr = header.descr();
    char order = descr.isEmpty() ? ' ' : descr.charAt(0);
    NpyType type = "<>|=".indexOf(order) >= 0 ? NpyType.ofCode(descr.substring(1)) : null;
    if (type == null || (order == '|' && type.bytes() != 1)) {
      throw new BadHeader(
          "has element type "
              + Names.quote(descr)
              + "; supported: float16/32/64, int8 to int64, uint8 to uint64 and bool");
    }
    long available = data.byteSize();
    long count = ConstantTensor.elementCount(header.shape());
    if (count < 0 || count > available / type.bytes()) {
      throw new BadHeader(
          String.format(
              Locale.ROOT,
              "is truncated: shape %s of %s needs more than the %d bytes in it",
              header.shape(),
              type.code(),
              available));
    }
    if (count * type.bytes() < available) {
      throw new BadHeader(
          String.format(
              Locale.ROOT,
              "has %d bytes more than shape %s of %s needs",
              available - count * type.bytes(),
              header.shape(),
              type.code()));
    }
    MemorySegment elements = data;
    // native order, '=', was that of the machine that wrote the file: a little-endian one, today
    if (order == '>' && type.bytes() > 1) {
      elements = byteSwapped(elements, type.bytes());
    }
    if (header.fortranOrder() && header.shape().size() > 1) {
      elements = rowMajor(elements, header.shape(), type.bytes());
    }
    return new NpyArray(header.shape(), type, elements.asReadOnly());
  }

  private static MemorySegment byteSwapped(MemorySegment from, int size) {
    MemorySegment to = Arena.ofAuto().allocate(from.byteSize(), 64);
    for (long i = 0; i < from.byteSize(); i += size) {
      for (int b = 0; b < size; b++) {
        to.set(ValueLayout.JAVA_BYTE, i + b, from.get(ValueLayout.JAVA_BYTE, i + size - 1 - b));
      }
    }
    return to;
  }

  /** Elements whose first index runs fastest, reordered so that the last does. */
  private static MemorySegment rowMajor(MemorySegment from, List<Long> shape, int size) {
    MemorySegment to = Arena.ofAuto().allocate(from.byteSize(), 64);
    int rank = shape.size();
    long[] strides = new long[rank];
    long stride = size;
    for (int d = 0; d < rank; d++) {
      strides[d] = stride;
      stride *= shape.get(d);
    }
    long[] index = new long[rank];
    long source = 0;
    for (long target = 0; target < from.byteSize(); target += size) {
      MemorySegment.copy(from, source, to, target, size);
      for (int d = rank - 1; d >= 0; d--) {
        source += strides[d];
        if (++index[d] < shape.get(d)) {
          break;
        }
        source -= strides[d] * index[d];
        index[d] = 0;
      }
    }
    return to;
  }

  /**
   * Writes an array of float32.
   *
   * @throws UserError if the file cannot be written; nothing is left then
   * @throws IllegalArgumentException if the shape does not fit the number of elements
   */
  public static void write(Path path, List<Long> shape, float[] values) {
    checkCount(shape, values.length);
    AtomicFile.write(
        path,
        out -> {
          out.write(header(NpyType.F4, shape));
          byte[] bytes = new byte[CHUNK];
          ByteBuffer chunk = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
          for (float value : values) {
            if (!chunk.hasRemaining()) {
              out.write(bytes);
              chunk.clear();
            }
            chunk.putFloat(value);
          }
          out.write(bytes, 0, chunk.position());
        });
  }

  /**
   * Writes an array of float64.
   *
   * @throws UserError if the file cannot be written; nothing is left then
   * @throws IllegalArgumentException if the shape does not fit the number of elements
   */
  public static void write(Path path, List<Long> shape, double[] values) {
    checkCount(shape, values.length);
    AtomicFile.write(
        path,
        out -> {
          out.write(header(NpyType.F8, shape));
          byte[] bytes = new byte[CHUNK];
          ByteBuffer chunk = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
          for (double value : values) {
            if (!chunk.hasRemaining()) {
              out.write(bytes);
              chunk.clear();
            }
            chunk.putDouble(value);
          }
          out.write(bytes, 0, chunk.position());
        });
  }

  private static void checkCount(List<Long> shape, int count) {
    if (ConstantTensor.elementCount(shape) != count) {
      throw new IllegalArgumentException(count + " elements do not fit shape " + shape);
    }
  }

  private static byte[] header(NpyType type, List<Long> shape) {
    String dims = shape.stream().map(String::valueOf).collect(Collectors.joining(", "));
    String tuple = shape.size() == 1 ? "(" + dims + ",)" : "(" + dims + ")";
    StringBuilder text =
        new StringBuilder("{'descr': '<" + type.code() + "', 'fortran_order': False, 'shape': ")
            .append(tuple)
            .append(", }");
    int prefix = MAGIC.length + 4;
    while ((prefix + text.length() + 1) % HEADER_ALIGNMENT != 0) {
      text.append(' ');
    }
    text.append('\n');
    ByteBuffer out =
        ByteBuffer.allocate(prefix + text.length()).order(ByteOrder.LITTLE_ENDIAN).put(MAGIC);
    out.put((byte) 1).put((byte) 0).putShort((short) text.length());
    return out.put(text.toString().getBytes(StandardCharsets.US_ASCII)).array();
  }
}
