package dev.warpwright.lower.item;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.MatrixRows;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Which tiles TMA copies can move, which one thread starts and the copy engine carries out. */
public final class TmaLoad {
  private TmaLoad() {}

  /** Why TMA copies cannot move between this matrix and shared memory; null if they can. */
  public static @Nullable String refusal(Buffer global) {
    if (global.scope() != Scope.GLOBAL || !MatrixRows.are(global)) {
      return global.name() + " is no row-major matrix in global memory";
    }
    int bytes = global.dtype().bytes();
    long row = MatrixRows.leadingDimension(global) * bytes;
    if (row % 16 != 0) {
      return "rows of "
          + global.name()
          + " take "
          + row
          + " bytes; tensor maps need a multiple of 16";
    }
    return global.rank() == 2 || MatrixRows.distance(global) * bytes % 16 == 0
        ? null
        : String.format(
            Locale.ROOT,
            "matrices of %s are %d bytes apart; tensor maps need a multiple of 16",
            global.name(),
            MatrixRows.distance(global) * bytes);
  }

  /** Why TMA copies cannot move a tile from shared memory into this matrix; null if they can. */
  public static @Nullable String storeRefusal(Buffer global) {
    String refusal = refusal(global);
    if (refusal != null) {
      return refusal;
    }
    // What lies between the end of a row and the next is not ours to write.
    long row = global.extent(global.rank() - 1) * global.dtype().bytes();
    return row % 16 == 0
        ? null
        : "rows of " + global.name() + " hold " + row + " bytes; bulk stores write whole 16 bytes";
  }

  /** Whether only the alignment of its rows keeps a matrix from TMA copies. */
  public static boolean isUnaligned(Buffer global) {
    return global.scope() == Scope.GLOBAL
        && global.rank() >= 2
        && global.layout() == null
        && refusal(global) != null;
  }

  /** Along which dimension of a cluster blocks copy the same tile: "m" or "n"; null for none. */
  public static @Nullable String shared(Stmt.TileCopy copy, WorkItems work) {
    boolean[] differs = new boolean[2];
    work.each(
        item -> {
          for (Range range : item.at().region(copy.from()).ranges()) {
            Walk.expressions(
                range.min(),
                e -> {
                  differs[0] |= e == item.row();
                  differs[1] |= e == item.column();
                });
          }
          return Stmt.Seq.EMPTY;
        });
    if (work.clusterM() > 1 && !differs[0]) {
      return "m";
    }
    return work.clusterN() > 1 && !differs[1] ? "n" : null;
  }
}
