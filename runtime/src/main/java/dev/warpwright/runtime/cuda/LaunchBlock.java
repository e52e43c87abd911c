package dev.warpwright.runtime.cuda;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The memory that a launch hands to the driver: a {@code CUlaunchConfig}, its {@code
 * CUlaunchAttribute}s, the array of pointers to the arguments, and the arguments. Written once, so
 * that a launch writes no more than the stream.
 *
 * <p>Offsets are those of cuda.h: a config has 56 bytes (grid 0, block 12, shared 24, stream 32,
 * attributes 40, their number 48), an attribute 72 (id 0, value 8).
 */
final class LaunchBlock {
  static final int CONFIG_BYTES = 56;
  static final int ATTRIBUTE_BYTES = 72;
  static final int MAX_ATTRIBUTES = 3;

  private static final int STREAM = 32;
  private static final int ATTRIBUTES = 40;
  private static final int ATTRIBUTE_COUNT = 48;
  private static final int VALUE = 8;
  private static final int FIRST_ATTRIBUTE = 64;
  private static final int POINTERS = 320;
  private static final int SLOT = TensorMap.BYTES;

  private static final int COOPERATIVE = 2;
  private static final int CLUSTER_DIMENSION = 4;
  private static final int PROGRAMMATIC_STREAM_SERIALIZATION = 6;

  private final MemorySegment memory;
  private final long firstArgument;

  LaunchBlock(LaunchConfig config, List<KernelArgument> arguments) {
    long pointers = (long) arguments.size() * JAVA_LONG.byteSize();
    firstArgument = Math.ceilDiv(POINTERS + pointers, SLOT) * SLOT;
    // The garbage collector frees it: a launch holds nothing on the device, so nobody has to close
    // it.
    memory = Arena.ofAuto().allocate(firstArgument + (long) arguments.size() * SLOT, SLOT);
    writeConfig(config);
    for (int i = 0; i < arguments.size(); i++) {
      memory.set(JAVA_LONG, POINTERS + i * JAVA_LONG.byteSize(), memory.address() + offset(i));
      write(i, arguments.get(i));
    }
  }

  /** The address of the {@code CUlaunchConfig}. */
  long config() {
    return memory.address();
  }

  /** The address of the array of pointers to the arguments. */
  long parameters() {
    return memory.address() + POINTERS;
  }

  void stream(long handle) {
    memory.set(JAVA_LONG, STREAM, handle);
  }

  /** Overwrites an argument; the driver copies all of them at each launch. */
  void write(int index, KernelArgument argument) {
    long at = offset(index);
    switch (argument) {
      case KernelArgument.Pointer pointer ->
          memory.set(JAVA_LONG, at, pointer.buffer().address() + pointer.offset());
      case KernelArgument.I32 i32 -> memory.set(JAVA_INT, at, i32.value());
      case KernelArgument.I64 i64 -> memory.set(JAVA_LONG, at, i64.value());
      case KernelArgument.F32 f32 -> memory.set(JAVA_FLOAT, at, f32.value());
      case KernelArgument.Map map ->
          MemorySegment.copy(map.map().memory(), 0, memory, at, TensorMap.BYTES);
    }
  }

  /** A look at the bytes, for tests. */
  MemorySegment memory() {
    return memory.asReadOnly();
  }

  private long offset(int index) {
    return firstArgument + (long) index * SLOT;
  }

  private void writeConfig(LaunchConfig config) {
    writeDim(0, config.grid());
    writeDim(12, config.block());
    memory.set(JAVA_INT, 24, config.dynamicShared());
    int count = 0;
    if (config.hasCluster()) {
      writeDim(attribute(count++, CLUSTER_DIMENSION), config.cluster());
    }
    if (config.programmatic()) {
      memory.set(JAVA_INT, attribute(count++, PROGRAMMATIC_STREAM_SERIALIZATION), 1);
    }
    if (config.cooperative()) {
      memory.set(JAVA_INT, attribute(count++, COOPERATIVE), 1);
    }
    memory.set(JAVA_LONG, ATTRIBUTES, memory.address() + FIRST_ATTRIBUTE);
    memory.set(JAVA_INT, ATTRIBUTE_COUNT, count);
  }

  /** Writes an attribute's id and returns the offset of its value. */
  private long attribute(int index, int id) {
    long start = FIRST_ATTRIBUTE + (long) index * ATTRIBUTE_BYTES;
    memory.set(JAVA_INT, start, id);
    return start + VALUE;
  }

  private void writeDim(long at, Dim3 dim) {
    memory.set(JAVA_INT, at, dim.x());
    memory.set(JAVA_INT, at + 4, dim.y());
    memory.set(JAVA_INT, at + 8, dim.z());
  }
}
