package dev.warpwright.runtime.cuda;

import java.util.Objects;

/** One argument of a kernel. Its type must be the parameter's: CUDA converts nothing. */
public sealed interface KernelArgument {

  /**
   * A pointer into device memory, {@code offset} bytes behind the buffer's start.
   *
   * @param buffer open when the kernel runs
   * @param offset bytes, inside the buffer
   */
  record Pointer(CudaBuffer buffer, long offset) implements KernelArgument {
    /** Checks that the offset is inside the buffer. */
    public Pointer {
      Objects.checkIndex(offset, buffer.bytes());
    }
  }

  /**
   * An {@code int} or {@code unsigned}.
   *
   * @param value of the parameter; unsigned ones by their bits
   */
  record I32(int value) implements KernelArgument {}

  /**
   * A {@code long long} or {@code unsigned long long}.
   *
   * @param value of the parameter; unsigned ones by their bits
   */
  record I64(long value) implements KernelArgument {}

  /**
   * A {@code float}.
   *
   * @param value of the parameter
   */
  record F32(float value) implements KernelArgument {}

  /**
   * A {@code const __grid_constant__ CUtensorMap}, by value.
   *
   * @param map copied at each launch
   */
  record Map(TensorMap map) implements KernelArgument {}

  /**
   * {@return a pointer to a buffer's start}
   *
   * @param buffer open when the kernel runs
   */
  static KernelArgument of(CudaBuffer buffer) {
    return new Pointer(buffer, 0);
  }

  /**
   * {@return an argument of 32 bits}
   *
   * @param value of the parameter; unsigned ones by their bits
   */
  static KernelArgument of(int value) {
    return new I32(value);
  }

  /**
   * {@return an argument of 64 bits}
   *
   * @param value of the parameter; unsigned ones by their bits
   */
  static KernelArgument of(long value) {
    return new I64(value);
  }

  /**
   * {@return an argument in f32}
   *
   * @param value of the parameter
   */
  static KernelArgument of(float value) {
    return new F32(value);
  }

  /**
   * {@return an argument for TMA copies}
   *
   * @param map copied at each launch
   */
  static KernelArgument of(TensorMap map) {
    return new Map(map);
  }

  /** {@return bytes of the parameter} */
  default int size() {
    return switch (this) {
      case I32 _, F32 _ -> 4;
      case Pointer _, I64 _ -> 8;
      case Map _ -> TensorMap.BYTES;
    };
  }
}
