package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Substitution;
import java.util.Map;

/**
 * Leaves gaps between the rows of an intermediate, so that threads that walk down a column meet
 * different banks.
 *
 * <pre>{@code
 * storageAlign(t, 0, 32, 4):   alloc t: f32[8, 32] shared
 *                            → alloc t: f32[8, 32] shared layout (8:36),(32:1)
 * }</pre>
 *
 * <p>The stride of the dimension becomes the smallest one that is at least as large as before and
 * leaves {@code offset} when divided by {@code factor}, all in elements; dimensions further out
 * follow. {@link Compact} the buffer first: its shape may not change afterwards.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The buffer exists and is an intermediate.
 *   <li>Its shape is constant, it has no layout yet, and it is in memory: no fragment.
 *   <li>The dimension is one of its dimensions but the last, whose stride stays 1.
 *   <li>{@code factor ≥ 1} and {@code 0 ≤ offset < factor}.
 * </ol>
 */
public final class StorageAlign {
  private static final String NAME = "storageAlign";

  private StorageAlign() {}

  public static PrimFunc apply(
      PrimFunc func, String bufferName, int dimension, long factor, long offset) {
    Check check = new Check(NAME, func);
    Buffer buffer = check.buffer(1, bufferName);
    Stmt alloc = check.alloc(1, buffer).getLast();
    SetLayout.inMemory(check, 2, buffer, alloc);
    check.require(
        3,
        dimension >= 0 && dimension < buffer.rank() - 1,
        "dimension " + dimension + " of " + bufferName + " is none but the last",
        alloc);
    check.require(
        4,
        factor >= 1 && offset >= 0 && offset < factor,
        "no stride leaves " + offset + " when divided by " + factor,
        alloc);
    long[] shape = new long[buffer.rank()];
    long[] strides = new long[buffer.rank()];
    long stride = 1;
    for (int d = buffer.rank() - 1; d >= 0; d--) {
      shape[d] = buffer.extent(d);
      if (d == dimension) {
        stride += Math.floorMod(offset - stride, factor);
      }
      strides[d] = stride;
      stride = Math.multiplyExact(stride, shape[d]);
    }
    Buffer aligned = buffer.withLayout(Layout.strided(shape, strides));
    return func.withBody(Substitution.ofBuffers(Map.of(buffer, aligned)).stmt(func.body()));
  }
}
