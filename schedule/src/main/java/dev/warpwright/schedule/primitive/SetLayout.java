package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Substitution;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Locale;
import java.util.Map;

/**
 * Says where the elements of an intermediate lie: strides, tiles in tiles, a swizzle.
 *
 * <pre>{@code
 *   alloc t: f16[64, 64] shared
 * → alloc t: f16[64, 64] shared layout (64:64),(64:1)^<3,3,3>
 * }</pre>
 *
 * <p>Accesses keep their coordinates. {@link Compact} the buffer first: its shape may not change
 * afterwards.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The buffer exists and is an intermediate.
 *   <li>Its shape is constant, it has no layout yet, and it is in memory: no fragment.
 *   <li>The layout has as many dimensions, each at least as large, and no negative stride.
 *   <li>Different elements lie at different places; a buffer of more than 2²⁴ elements, or a layout
 *       of more places, is too large to tell.
 * </ol>
 */
public final class SetLayout {
  private static final String NAME = "setLayout";
  private static final long MAX_ELEMENTS = 1 << 24;

  private SetLayout() {}

  public static PrimFunc apply(PrimFunc func, String bufferName, Layout layout) {
    Check check = new Check(NAME, func);
    Buffer buffer = check.buffer(1, bufferName);
    Stmt alloc = check.alloc(1, buffer).getLast();
    inMemory(check, 2, buffer, alloc);
    check.require(
        3,
        layout.rank() == buffer.rank(),
        bufferName + " has " + buffer.rank() + " dimensions, the layout " + layout.rank(),
        alloc);
    for (int d = 0; d < buffer.rank(); d++) {
      check.require(
          3,
          layout.extent(d) >= buffer.extent(d),
          String.format(
              Locale.ROOT,
              "dimension %d of %s has extent %d, that of the layout %d",
              d,
              bufferName,
              buffer.extent(d),
              layout.extent(d)),
          alloc);
      for (Mode mode : layout.dimensions().get(d)) {
        check.require(3, mode.stride() >= 0, "a stride of dimension " + d + " is negative", alloc);
      }
    }
    check.require(
        4,
        buffer.storageElements() <= MAX_ELEMENTS && layout.cosize() <= MAX_ELEMENTS,
        bufferName + " is too large to compare the places of its elements",
        alloc);
    long[] twice = firstCollision(buffer, layout);
    check.require(
        4,
        twice.length == 0,
        "element " + Arrays.toString(twice) + " of " + bufferName + " lies where another one does",
        alloc);
    return func.withBody(
        Substitution.ofBuffers(Map.of(buffer, buffer.withLayout(layout))).stmt(func.body()));
  }

  /** That a buffer has a constant shape, no layout yet, and lies in memory. */
  static void inMemory(Check check, int requirement, Buffer buffer, Stmt alloc) {
    String name = buffer.name();
    check.require(
        requirement, buffer.hasConstantShape(), "the shape of " + name + " is symbolic", alloc);
    check.require(requirement, buffer.layout() == null, name + " has a layout already", alloc);
    check.require(requirement, buffer.scope() != Scope.FRAGMENT, name + " is a fragment", alloc);
  }

  /** Coordinates of an element whose place is taken by one before it; empty if there is none. */
  private static long[] firstCollision(Buffer buffer, Layout layout) {
    BitSet taken = new BitSet();
    long[] at = new long[buffer.rank()];
    for (long n = buffer.storageElements(); n > 0; n--) {
      int place = Math.toIntExact(layout.offset(at));
      if (taken.get(place)) {
        return at;
      }
      taken.set(place);
      for (int d = at.length - 1; d >= 0 && ++at[d] == buffer.extent(d); d--) {
        at[d] = 0;
      }
    }
    return new long[0];
  }
}
