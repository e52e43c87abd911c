package dev.warpwright.measure.network;

import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.network.NetworkMemory.Column;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaStream;
import java.lang.foreign.MemorySegment;

/** Brings outputs back and compares them, some rows at a time. */
final class OutputReader {
  private static final int CHUNK_BYTES = 16 << 20;

  private OutputReader() {}

  /** The error of all outputs of a set. */
  static NetworkError error(NetworkMemory memory, NetworkData data, int set, CudaStream stream) {
    NetworkError worst = null;
    for (int i = 0; i < memory.outputs().size(); i++) {
      Column column = memory.outputs().get(i);
      NetworkCheck.Sum sum = new NetworkCheck.Sum(data, column, i, set);
      read(memory.output(set, i), column, data.rows(), sum, stream);
      NetworkError error = sum.error();
      worst = worst == null ? error : worst.worst(error);
    }
    if (worst == null) {
      throw new IllegalArgumentException("a network without outputs");
    }
    return worst;
  }

  private static void read(
      CudaBuffer buffer, Column column, int rows, NetworkCheck.Sum sum, CudaStream stream) {
    int chunk = (int) Math.clamp(CHUNK_BYTES / column.rowBytes(), 1, Math.max(1, rows));
    int elements = chunk * column.features();
    short[] halves = column.type().bytes() == 2 ? new short[elements] : new short[0];
    float[] floats = column.type().bytes() == 4 ? new float[elements] : new float[0];
    MemorySegment all =
        column.type().bytes() == 2 ? MemorySegment.ofArray(halves) : MemorySegment.ofArray(floats);
    NetworkCheck.Elements view =
        column.type() == DType.F16
            ? place -> Float.float16ToFloat(halves[place])
            : column.type() == DType.BF16
                ? place -> Float.intBitsToFloat(halves[place] << 16)
                : place -> floats[place];
    for (int first = 0; first < rows; first += chunk) {
      int count = Math.min(chunk, rows - first);
      buffer.copyTo(all.asSlice(0, count * column.rowBytes()), first * column.rowBytes(), stream);
      sum.add(first, count, view);
    }
  }
}
