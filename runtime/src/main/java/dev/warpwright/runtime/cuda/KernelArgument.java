package dev.warpwright.runtime.cuda;

import java.util.Objects;

/** One argument of a kernel. Its type must be the parameter's: CUDA converts nothing. */
public sealed interface KernelArgument {

  /** A pointer into device memory, {@code offset} bytes behind the buffer's start. */
  record Pointer(CudaBuffer buffer, long offset) implements KernelArgument {
    public Pointer {
      Objects.checkIndex(offset, buffer.bytes());
    }
  }

  /** An {@code int} or {@code unsigned}. */
  record I32(int value) implements KernelArgument {}

  /** A {@code long long} or {@code unsigned long long}. */
  record I64(long value) implements KernelArgument {}

  /** A {@code float}. */
  record F32(float value) implements KernelArgument {}

  /** A {@code const __grid_constant__ CUtensorMap}, by value. */
  record Map(TensorMap map) implements KernelArgument {}

  static KernelArgument of(CudaBuffer buffer) {
    return new Pointer(buffer, 0);
  }

  static KernelArgument of(int value) {
    return new I32(value);
  }

  static KernelArgument of(long value) {
    return new I64(value);
  }

  static KernelArgument of(float value) {
    return new F32(value);
  }

  static KernelArgument of(TensorMap map) {
    return new Map(map);
  }

  /** Bytes of the parameter. */
  default int size() {
    return switch (this) {
      case I32 _, F32 _ -> 4;
      case Pointer _, I64 _ -> 8;
      case Map _ -> TensorMap.BYTES;
    };
  }
}
