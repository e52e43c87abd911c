package dev.warpwright.lower.block;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.CopyLowering;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

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
    Set<Buffer> rings = rings(body);
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.Alloc(Buffer buffer, Stmt ignored)
              && buffer.scope() == Scope.SHARED
              && buffer.layout() == null
              && (buffer.rank() == 2 || rings.contains(buffer))) {
            replaced.put(buffer, buffer.withLayout(layout(buffer)));
          }
        });
    return Substitution.ofBuffers(replaced).stmt(body);
  }

  /** Tiles that are there several times, which copies fill ahead. */
  private static Set<Buffer> rings(Stmt body) {
    Set<Buffer> rings = new HashSet<>();
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.TileCopy copy
              && CopyLowering.isAsynchronous(copy)
              && copy.to().buffer().rank() == 3) {
            rings.add(copy.to().buffer());
          }
        });
    return rings;
  }

  /** Of a matrix, or of those of a ring, one behind the other. */
  private static Layout layout(Buffer buffer) {
    int last = buffer.rank() - 1;
    long rows = buffer.extent(last - 1);
    long columns = buffer.extent(last);
    long pitch = pitch(columns, buffer.dtype().bytes());
    return last == 1
        ? Layout.strided(new long[] {rows, columns}, new long[] {pitch, 1})
        : Layout.strided(
            new long[] {buffer.extent(0), rows, columns}, new long[] {rows * pitch, pitch, 1});
  }

  /** Elements from row to row. */
  static long pitch(long cols, int elementBytes) {
    long chunks = Math.ceilDiv(cols * elementBytes, CHUNK);
    long odd = chunks % 2 == 0 ? chunks + 1 : chunks;
    return odd * CHUNK / elementBytes;
  }
}
