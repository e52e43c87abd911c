package dev.warpwright.measure.network;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Inputs and outputs on a device, several sets of each: going through them moves three times the L2
 * before one comes again. All programs of a network use the same.
 */
final class NetworkMemory implements AutoCloseable {
  private static final byte POISON = (byte) 0xFF;
  private static final int MIN_SETS = 2;

  /** Networks of a few rows stay in the cache: more memory than this is not worth its launches. */
  private static final int MAX_SETS = 4096;

  /** Bytes that are made and copied at once. */
  private static final int CHUNK = 8 << 20;

  private final CudaStream stream;
  private final NetworkData data;
  private final List<Column> inputs;
  private final List<Column> outputs;

  /** The inputs whose memory outputs have, as a cache that is written in place; -1 for none. */
  private final int[] carried;

  private final List<List<CudaBuffer>> sets = new ArrayList<>();

  /** Of each set what its inputs that are written in place had at first, by their place. */
  private final List<Map<Integer, CudaBuffer>> pristine = new ArrayList<>();

  private final List<CudaBuffer> owned = new ArrayList<>();

  /** A matrix that goes in or comes out. */
  record Column(int features, DType type) {
    static Column of(Buffer buffer) {
      return new Column(Math.toIntExact(buffer.extent(1)), buffer.dtype());
    }

    long rowBytes() {
      return (long) features * type.bytes();
    }
  }

  /**
   * Allocates and fills.
   *
   * @param computed so many rows there is memory for, which may be more than the data have
   */
  NetworkMemory(
      NetworkProgram like, int computed, NetworkData data, CudaContext context, CudaStream stream) {
    this.stream = stream;
    this.data = data;
    this.inputs = like.inputs().stream().map(Column::of).toList();
    this.outputs = like.outputs().stream().map(Column::of).toList();
    this.carried = like.carried();
    long bytes = 0;
    for (int i = 0; i < all().size(); i++) {
      boolean own = i < inputs.size() || carried[i - inputs.size()] < 0;
      bytes += own ? all().get(i).rowBytes() * data.rows() : 0;
    }
    int count =
        (int) Math.clamp(Math.ceilDiv(3 * context.device().l2Bytes(), bytes), MIN_SETS, MAX_SETS);
    try {
      for (int set = 0; set < count; set++) {
        List<CudaBuffer> memory = new ArrayList<>();
        for (int i = 0; i < all().size(); i++) {
          int same = i < inputs.size() ? -1 : carried[i - inputs.size()];
          if (same >= 0) {
            memory.add(memory.get(same));
            continue;
          }
          CudaBuffer buffer = context.allocate(Math.max(16, all().get(i).rowBytes() * computed));
          owned.add(buffer);
          buffer.poison((byte) 0, stream);
          memory.add(buffer);
        }
        sets.add(memory);
        for (int i = 0; i < inputs.size(); i++) {
          fill(memory.get(i), inputs.get(i), encoded(i), set);
        }
        pristine.add(copies(memory, context));
        poison(set);
      }
      stream.synchronize();
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private Map<Integer, CudaBuffer> copies(List<CudaBuffer> memory, CudaContext context) {
    Map<Integer, CudaBuffer> copies = new HashMap<>();
    for (int same : carried) {
      if (same >= 0) {
        CudaBuffer copy = context.allocate(memory.get(same).bytes());
        owned.add(copy);
        copy.copyFrom(memory.get(same), copy.bytes(), stream);
        copies.put(same, copy);
      }
    }
    return copies;
  }

  private List<Column> all() {
    List<Column> all = new ArrayList<>(inputs);
    all.addAll(outputs);
    return all;
  }

  /** The distinct rows of an input, in its type. */
  private byte[] encoded(int input) {
    float[] values = data.inputs().get(input);
    DType type = inputs.get(input).type();
    ByteBuffer bytes =
        ByteBuffer.allocate(Math.toIntExact((long) values.length * type.bytes()))
            .order(ByteOrder.LITTLE_ENDIAN);
    for (float value : values) {
      switch (type) {
        case F16 -> bytes.putShort(Float.floatToFloat16(value));
        case BF16 -> bytes.putShort(Numerics.bf16Bits(value));
        case F32 -> bytes.putFloat(value);
        case F64, BOOL, I8, U8, I32, U32, I64, U64, F8E4M3, F8E5M2, MBARRIER, HANDLE ->
            throw new IllegalArgumentException("inputs of type " + type + " are not used");
      }
    }
    return bytes.array();
  }

  private void fill(CudaBuffer buffer, Column column, byte[] distinct, int set) {
    int width = Math.toIntExact(column.rowBytes());
    int chunk = Math.clamp(CHUNK / width, 1, Math.max(1, data.rows()));
    byte[] some = new byte[chunk * width];
    for (int first = 0; first < data.rows(); first += chunk) {
      int count = Math.min(chunk, data.rows() - first);
      for (int i = 0; i < count; i++) {
        System.arraycopy(distinct, data.source(set, first + i) * width, some, i * width, width);
      }
      buffer.copyFrom(
          MemorySegment.ofArray(some).asSlice(0, (long) count * width),
          (long) first * width,
          stream);
    }
  }

  int count() {
    return sets.size();
  }

  List<Column> outputs() {
    return outputs;
  }

  /** Inputs, then outputs of a set. */
  List<CudaBuffer> set(int set) {
    return sets.get(set);
  }

  CudaBuffer output(int set, int index) {
    return sets.get(set).get(inputs.size() + index);
  }

  /**
   * Overwrites the outputs of a set: what a program then fails to write is not a number, or of one
   * that is written in place what the input had there.
   */
  void poison(int set) {
    for (int i = 0; i < outputs.size(); i++) {
      int same = carried[i];
      if (same < 0) {
        output(set, i).poison(POISON, stream);
      } else {
        CudaBuffer copy = Objects.requireNonNull(pristine.get(set).get(same));
        output(set, i).copyFrom(copy, copy.bytes(), stream);
      }
    }
  }

  @Override
  public void close() {
    owned.forEach(CudaBuffer::close);
    owned.clear();
  }
}
