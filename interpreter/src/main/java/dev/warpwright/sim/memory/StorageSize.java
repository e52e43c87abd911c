package dev.warpwright.sim.memory;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.type.DType;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** How much storage an array takes. */
public final class StorageSize {
  /** Of a Java array. */
  public static final int MOST_BYTES = Integer.MAX_VALUE - 16;

  private StorageSize() {}

  /** Elements that storage for this shape spans, gaps of the layout included. */
  public static long elements(long[] shape, @Nullable Layout layout) {
    long count = 1;
    for (long extent : shape) {
      if (extent < 0) {
        throw new IllegalArgumentException("negative extent in " + Arrays.toString(shape));
      }
      count = Math.multiplyExact(count, extent);
    }
    if (layout == null || count == 0) {
      return count;
    }
    long last = 0;
    for (int d = 0; d < shape.length; d++) {
      long rest = shape[d] - 1;
      for (int m = 0; m < layout.dimensions().get(d).size(); m++) {
        Mode mode = layout.dimensions().get(d).get(m);
        boolean outermost = m == layout.dimensions().get(d).size() - 1;
        last += (outermost ? rest : Math.min(rest, mode.extent() - 1)) * mode.stride();
        rest /= mode.extent();
      }
    }
    if (!layout.swizzle().isIdentity()) {
      int bits = layout.swizzle().base() + layout.swizzle().shift() + layout.swizzle().bits();
      return ((last >> bits) + 1) << bits;
    }
    return last + 1;
  }

  /**
   * Bytes of a buffer, each element as a type.
   *
   * @throws UserError if no array holds as many
   */
  public static long bytes(Buffer buffer, long[] shape, DType stored) {
    long bytes;
    try {
      bytes = Math.multiplyExact(elements(shape, buffer.layout()), stored.bytes());
    } catch (ArithmeticException e) {
      bytes = Long.MAX_VALUE;
    }
    if (bytes > MOST_BYTES) {
      throw new UserError(
          buffer.name()
              + " is "
              + Arrays.toString(shape)
              + ": too large for the interpreter, which holds 2 GiB a buffer; take fewer rows");
    }
    return bytes;
  }
}
