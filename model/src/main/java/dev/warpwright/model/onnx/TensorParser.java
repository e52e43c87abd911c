package dev.warpwright.model.onnx;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads a tensor message. Raw data and packed floats are used where they lie; numbers encoded as
 * varints are converted once. No memory is reserved before the file has shown the elements.
 */
final class TensorParser {
  private static final ValueLayout.OfFloat LE_FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfDouble LE_DOUBLE =
      ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfShort LE_SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt LE_INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LE_LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final int MAX_RANK = 16;
  private static final int INT32_DATA = 5;
  private static final int UINT64_DATA = 11;

  private final WireReader reader;
  private final String where;
  private final List<Long> dims = new ArrayList<>();
  private final List<MemorySegment> floatChunks = new ArrayList<>();
  private final List<MemorySegment> doubleChunks = new ArrayList<>();
  private final List<WireReader> varintChunks = new ArrayList<>();
  private int varintField;
  private int typeCode;
  private String name = "";
  private @Nullable MemorySegment raw;
  private boolean external;
  private final Map<String, String> externalFields = new HashMap<>();

  private TensorParser(WireReader reader, String where) {
    this.reader = reader;
    this.where = where;
  }

  /**
   * Reads one tensor.
   *
   * @param where how messages call a tensor without a name of its own
   */
  static ConstantTensor parse(WireReader reader, String where) {
    TensorParser parser = new TensorParser(reader, where);
    parser.readFields();
    return parser.build();
  }

  private void readFields() {
    while (reader.next()) {
      switch (reader.field()) {
        case 1 -> readDims();
        case 2 -> typeCode = (int) reader.varint();
        case 3 -> throw error("is stored in segments, which is not supported");
        case 4 -> floatChunks.add(elements(4));
        case 5, 7, 11 -> addVarints();
        case 6 -> throw error("holds strings, which is not supported");
        case 8 -> name = reader.string();
        case 9 -> readRaw();
        case 10 -> doubleChunks.add(elements(8));
        case 13 -> readExternal(reader.message("external data"));
        case 14 -> external |= reader.varint() != 0;
        default -> reader.skip();
      }
    }
  }

  private void readDims() {
    if (reader.wireType() == WireReader.BYTES) {
      WireReader packed = reader.packed();
      while (packed.remaining() > 0) {
        addDim(packed.packedVarint());
      }
    } else {
      addDim(reader.varint());
    }
  }

  private void addDim(long dim) {
    if (dim < 0) {
      throw error("has a negative dimension");
    }
    if (dims.size() == MAX_RANK) {
      throw error("has more than " + MAX_RANK + " dimensions");
    }
    dims.add(dim);
  }

  private void readRaw() {
    if (raw != null) {
      throw error("has two blocks of raw data");
    }
    raw = reader.bytes();
  }

  /** Floats are either packed, or fields of their own: then each counts as a part of the file. */
  private MemorySegment elements(int size) {
    reader.countItem();
    if (reader.wireType() == WireReader.BYTES) {
      return reader.bytes();
    }
    MemorySegment one = Arena.ofAuto().allocate(8, 8);
    if (size == 4) {
      one.set(LE_FLOAT, 0, reader.float32());
    } else {
      one.set(LE_DOUBLE, 0, reader.float64());
    }
    return one.asSlice(0, size);
  }

  private void addVarints() {
    reader.countItem();
    if (varintField != 0 && varintField != reader.field()) {
      throw error("has data in two forms");
    }
    varintField = reader.field();
    if (reader.wireType() != WireReader.BYTES) {
      throw error("has integers that are not packed, which is not supported");
    }
    varintChunks.add(reader.packed());
  }

  private void readExternal(WireReader entry) {
    external = true;
    String key = "";
    String value = "";
    while (entry.next()) {
      switch (entry.field()) {
        case 1 -> key = entry.string();
        case 2 -> value = entry.string();
        default -> entry.skip();
      }
    }
    if (externalFields.put(key, value) != null) {
      throw error("has external data with two values of " + Names.quote(key));
    }
  }

  private ConstantTensor build() {
    DType dtype = OnnxType.dtype(typeCode);
    if (dtype == null) {
      throw error("has unsupported element type " + OnnxType.name(typeCode));
    }
    long count = ConstantTensor.elementCount(dims);
    if (count < 0 || count > Long.MAX_VALUE / 8) {
      throw error("has dimensions " + dims + ", which overflow");
    }
    MemorySegment data = data(dtype, count);
    if (data.byteSize() != count * dtype.bytes()) {
      throw error(
          String.format(
              Locale.ROOT,
              "has %d bytes of data, but %s%s needs %d",
              data.byteSize(),
              dtype,
              dims,
              count * dtype.bytes()));
    }
    return new ConstantTensor(name, dtype, dims, data);
  }

  private MemorySegment data(DType dtype, long count) {
    if (external) {
      if (raw != null) {
        throw error("has data both in the file and outside");
      }
      return reader.external().part(what(), externalFields);
    }
    int forms =
        (raw != null ? 1 : 0)
            + (floatChunks.isEmpty() ? 0 : 1)
            + (doubleChunks.isEmpty() ? 0 : 1)
            + (varintChunks.isEmpty() ? 0 : 1);
    if (forms > 1) {
      throw error("has data in two forms");
    }
    if (raw != null) {
      return raw;
    }
    if (!floatChunks.isEmpty() && dtype == DType.F32) {
      return joined(floatChunks);
    }
    if (!doubleChunks.isEmpty() && dtype == DType.F64) {
      return joined(doubleChunks);
    }
    if (!varintChunks.isEmpty() && varintField == varintFieldOf(dtype)) {
      return converted(dtype, count);
    }
    if (forms == 0) {
      return MemorySegment.NULL;
    }
    throw error("has element type " + dtype + ", but data of another type");
  }

  /** The field in which integers of a type are stored; 16-bit floats are stored as their bits. */
  private static int varintFieldOf(DType dtype) {
    return switch (dtype) {
      case BOOL, I8, U8, I32, F16, BF16 -> INT32_DATA;
      case I64 -> 7;
      case U32, U64 -> UINT64_DATA;
      case F8E4M3, F8E5M2, F32, F64, MBARRIER, HANDLE -> 0;
    };
  }

  private MemorySegment converted(DType dtype, long count) {
    long encoded = varintChunks.stream().mapToLong(WireReader::remaining).sum();
    if (encoded < count) {
      throw error(String.format(Locale.ROOT, "has %d bytes for %d integers", encoded, count));
    }
    MemorySegment out = Arena.ofAuto().allocate(count * dtype.bytes(), 64);
    long i = 0;
    for (WireReader chunk : varintChunks) {
      while (chunk.remaining() > 0) {
        long value = chunk.packedVarint();
        if (i == count) {
          throw error("has more than the " + count + " integers of its shape");
        }
        store(out, dtype, i++, value);
      }
    }
    if (i != count) {
      throw error(String.format(Locale.ROOT, "has %d integers instead of %d", i, count));
    }
    return out;
  }

  private void store(MemorySegment out, DType dtype, long i, long value) {
    int bits = dtype.bits();
    // int32_data is sign-extended to 64 bits, so both signed and unsigned readings may occur
    boolean fits = bits == 64 || (value >= -(1L << (bits - 1)) && value < (1L << bits));
    if (!fits) {
      throw error("has the integer " + value + ", which does not fit into " + dtype);
    }
    switch (dtype.bytes()) {
      case 1 -> out.set(ValueLayout.JAVA_BYTE, i, (byte) value);
      case 2 -> out.set(LE_SHORT, i * 2, (short) value);
      case 4 -> out.set(LE_INT, i * 4, (int) value);
      default -> out.set(LE_LONG, i * 8, value);
    }
  }

  private static MemorySegment joined(List<MemorySegment> chunks) {
    if (chunks.size() == 1) {
      return chunks.getFirst();
    }
    long size = chunks.stream().mapToLong(MemorySegment::byteSize).sum();
    MemorySegment out = Arena.ofAuto().allocate(size, 64);
    long at = 0;
    for (MemorySegment chunk : chunks) {
      MemorySegment.copy(chunk, 0, out, at, chunk.byteSize());
      at += chunk.byteSize();
    }
    return out;
  }

  private UserError error(String what) {
    return reader.error(what() + " " + what);
  }

  /** What messages call this tensor. */
  private String what() {
    return name.isEmpty() ? where : "tensor " + Names.quote(name);
  }
}
