package dev.warpwright.lower.tile;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.lower.gpu.TileSums;
import dev.warpwright.lower.gpu.WarpgroupInstruction;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A pipelined loop, what it waits for, and what it copies before it uses it. */
final class Feed {
  final Stmt.For loop;
  final List<Stmt.For> around;

  /** What is waited for before anything is copied. */
  final List<Stmt> waits;

  final List<WholeCopy> copies;
  final List<Stmt> rest;
  @Nullable TileRing ring;

  Feed(
      Stmt.For loop,
      List<Stmt.For> around,
      List<Stmt> waits,
      List<WholeCopy> copies,
      List<Stmt> rest) {
    this.loop = loop;
    this.around = around;
    this.waits = waits;
    this.copies = copies;
    this.rest = rest;
  }

  /**
   * Whether nothing is done with tiles but products, which may be under way for a step more, and
   * sums of rows, or what gathers their first operands.
   */
  boolean overlaps() {
    return loop.attrs().getLong("stages", 2) > 1
        && !loop.attrs().has("hold")
        && (rest.stream()
                .allMatch(s -> TileSums.are(s) || s instanceof Stmt.TileMma mma && overlaps(mma))
            || HalveGathers.areHalves(rest));
  }

  /** What of a stage is under way beyond it: all products, or of two halves the second. */
  Stmt underWay(Stmt s) {
    return overlaps() && s instanceof Stmt.TileMma mma && (overlaps(mma) || s == rest.getLast())
        ? later(mma)
        : s;
  }

  /** Columns of its first tile. */
  long columns() {
    Buffer tile = copies.getFirst().to();
    return tile.rank() == 0 ? 1 : tile.extent(tile.rank() - 1);
  }

  /** Whether its tiles are operands of warpgroups' products. */
  boolean isForWarpgroups() {
    return rest.stream()
        .anyMatch(s -> s instanceof Stmt.TileMma mma && WarpgroupInstruction.isNamedBy(mma));
  }

  private static boolean overlaps(Stmt.TileMma mma) {
    return WarpgroupInstruction.isNamedBy(mma)
        && mma.a().buffer().scope() == Scope.SHARED
        && !mma.attrs().has("inflight");
  }

  private static Stmt later(Stmt.TileMma m) {
    return new Stmt.TileMma(
        m.c(), m.a(), m.b(), m.transposeA(), m.transposeB(), m.attrs().with("inflight", 1));
  }
}
