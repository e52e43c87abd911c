package dev.warpwright.jvm;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ScalarParam;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Array;
import java.util.List;

/** A compiled host kernel. Safe to call from several threads at once. */
public final class HostFunction {
  private final Kernel kernel;
  private final MethodHandle entry;
  private final ThreadLocal<Scratch> scratch;

  HostFunction(Kernel kernel, MethodHandle entry, int scratchSlots) {
    this.kernel = kernel;
    this.entry = entry;
    this.scratch = ThreadLocal.withInitial(() -> new Scratch(scratchSlots));
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
    check(arrays, scalars);
    try {
      entry.invokeExact(new Frame(parallel, scratch), arrays, scalars);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("kernel " + kernel.name() + " threw a checked exception", e);
    }
  }

  private void check(Object[] arrays, long[] scalars) {
    List<Buffer> buffers = kernel.buffers();
    List<ScalarParam> params = kernel.scalars();
    if (arrays.length != buffers.size() || scalars.length != params.size()) {
      throw new IllegalArgumentException(
          kernel.name()
              + " takes "
              + buffers.size()
              + " arrays and "
              + params.size()
              + " scalars, not "
              + arrays.length
              + " and "
              + scalars.length);
    }
    for (int i = 0; i < scalars.length; i++) {
      ScalarParam param = params.get(i);
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
      Buffer buffer = buffers.get(i);
      Class<?> wanted = JvmTypes.arrayClass(buffer.dtype());
      if (arrays[i].getClass() != wanted) {
        throw new IllegalArgumentException(
            "buffer "
                + buffer.name()
                + " of "
                + kernel.name()
                + " needs a "
                + wanted.getSimpleName()
                + ", not a "
                + arrays[i].getClass().getSimpleName());
      }
      if (buffer.hasConstantShape() && Array.getLength(arrays[i]) < buffer.storageElements()) {
        throw new IllegalArgumentException(
            "buffer "
                + buffer.name()
                + " of "
                + kernel.name()
                + " spans "
                + buffer.storageElements()
                + " elements, its array has "
                + Array.getLength(arrays[i]));
      }
    }
  }
}
