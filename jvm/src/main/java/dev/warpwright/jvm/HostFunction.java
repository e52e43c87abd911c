package dev.warpwright.jvm;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ScalarParam;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Array;

/** A compiled host kernel. Safe to call from several threads at once. */
public final class HostFunction {
  /** What a buffer's array must be; the least length is 0 where the shape is symbolic. */
  private record ArrayParam(Class<?> type, long leastLength) {
    static ArrayParam of(Buffer buffer) {
      return new ArrayParam(
          JvmTypes.arrayClass(buffer.dtype()),
          buffer.hasConstantShape() ? buffer.storageElements() : 0);
    }

    boolean takes(Object array) {
      return array.getClass() == type && Array.getLength(array) >= leastLength;
    }
  }

  private final Kernel kernel;
  private final MethodHandle entry;
  private final ThreadLocal<Scratch> scratch;
  private final int vectorInstructions;
  private final ArrayParam[] arrayParams;
  private final ScalarParam[] scalarParams;

  HostFunction(Kernel kernel, MethodHandle entry, int scratchSlots, int vectorInstructions) {
    this.vectorInstructions = vectorInstructions;
    this.kernel = kernel;
    this.entry = entry;
    this.scratch = ThreadLocal.withInitial(() -> new Scratch(scratchSlots));
    this.arrayParams = kernel.buffers().stream().map(ArrayParam::of).toArray(ArrayParam[]::new);
    this.scalarParams = kernel.scalars().toArray(ScalarParam[]::new);
  }

  public Kernel kernel() {
    return kernel;
  }

  /**
   * Runs the kernel.
   *
   * @param arrays one Java array for each buffer parameter in order, at least as long as the
   *     buffer's storage: {@code float[]} for f32, {@code double[]} for f64, {@code short[]} (raw
   *     bits) for f16 and bf16, {@code int[]} for i32 and u32, {@code long[]} for i64 and u64,
   *     {@code byte[]} for i8, u8, bool and the 8-bit floats
   * @param scalars one value for each scalar parameter in order
   * @param parallel runs the parallel loops
   * @throws IllegalArgumentException if an argument is missing, of the wrong type, too short or out
   *     of its range
   */
  public void run(Object[] arrays, long[] scalars, Parallel parallel) {
    bind(arrays, scalars).run(parallel);
  }

  /**
   * Checks arguments once, for many runs on what the arrays hold then.
   *
   * @param arrays as for {@link #run}; copied
   * @param scalars as for {@link #run}; copied
   * @throws IllegalArgumentException if an argument is missing, of the wrong type, too short or out
   *     of its range
   */
  public BoundFunction bind(Object[] arrays, long[] scalars) {
    check(arrays, scalars);
    return new BoundFunction(this, arrays.clone(), scalars.clone());
  }

  void invoke(Parallel parallel, int limit, boolean dry, Object[] arrays, long[] scalars) {
    try {
      entry.invokeExact(new Frame(parallel, scratch, limit, dry), arrays, scalars);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("kernel " + kernel.name() + " threw a checked exception", e);
    }
  }

  /** Instructions with vectors in the code. */
  int vectorInstructions() {
    return vectorInstructions;
  }

  private void invoke(Frame frame, Object[] arrays, long[] scalars) {
    try {
      entry.invokeExact(frame, arrays, scalars);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("kernel " + kernel.name() + " threw a checked exception", e);
    }
  }

  private void check(Object[] arrays, long[] scalars) {
    if (arrays.length != arrayParams.length || scalars.length != scalarParams.length) {
      throw new IllegalArgumentException(
          kernel.name()
              + " takes "
              + arrayParams.length
              + " arrays and "
              + scalarParams.length
              + " scalars, not "
              + arrays.length
              + " and "
              + scalars.length);
    }
    for (int i = 0; i < scalars.length; i++) {
      ScalarParam param = scalarParams[i];
      if (scalars[i] < param.min() || scalars[i] > param.max()) {
        throw new IllegalArgumentException(
            kernel.name()
                + " is compiled for "
                + param.min()
                + " ≤ "
                + param.name()
                + " ≤ "
                + param.max()
                + ", not for "
                + scalars[i]);
      }
    }
    for (int i = 0; i < arrays.length; i++) {
      check(i, arrays[i]);
    }
  }

  /** Refuses an array that is too short for the buffer of that index, or of another type. */
  void check(int index, Object array) {
    if (!arrayParams[index].takes(array)) {
      throw unsuitable(kernel.buffers().get(index), arrayParams[index], array);
    }
  }

  private IllegalArgumentException unsuitable(Buffer buffer, ArrayParam wanted, Object array) {
    String name = "buffer " + buffer.name() + " of " + kernel.name();
    return new IllegalArgumentException(
        array.getClass() != wanted.type()
            ? name
                + " needs a "
                + wanted.type().getSimpleName()
                + ", not a "
                + array.getClass().getSimpleName()
            : name
                + " spans "
                + wanted.leastLength()
                + " elements, its array has "
                + Array.getLength(array));
  }
}
