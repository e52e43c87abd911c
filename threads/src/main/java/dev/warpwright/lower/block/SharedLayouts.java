package dev.warpwright.lower.block;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import java.util.HashMap;
import java.util.Map;

/**
 * Gives every matrix in shared memory a row pitch that is an odd multiple of 16 bytes: the eight
 * 16-byte rows that ldmatrix reads together then lie in different banks, and so do column accesses
 * of whole warps.
 *
 * <p>It stands before the plan of shared memory, which needs the sizes, and leaves alone what has a
 * layout already.
 */
final class SharedLayouts {
  private static final int CHUNK = 16;

  private SharedLayouts() {}

  static Stmt apply(Stmt body) {
    Map<Buffer, Buffer> replaced = new HashMap<>();
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.Alloc(Buffer buffer, Stmt ignored)
              && buffer.scope() == Scope.SHARED
              && buffer.layout() == null
              && buffer.rank() == 2) {
            long pitch = pitch(buffer.extent(1), buffer.dtype().bytes());
            long[] shape = {buffer.extent(0), buffer.extent(1)};
            replaced.put(buffer, buffer.withLayout(Layout.strided(shape, new long[] {pitch, 1})));
          }
        });
    return Substitution.ofBuffers(replaced).stmt(body);
  }

  /** Elements from row to row. */
  static long pitch(long cols, int elementBytes) {
    long chunks = Math.ceilDiv(cols * elementBytes, CHUNK);
    long odd = chunks % 2 == 0 ? chunks + 1 : chunks;
    return odd * CHUNK / elementBytes;
  }
}
