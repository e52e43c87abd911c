package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Substitution;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.Walk;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.List;
import java.util.Map;

/**
 * A copy of an operand's tile that one thread starts and the copy engine carries out. With {@code
 * multicast} each block of a cluster loads an equal part of the tile's rows into all of them.
 */
record BulkLoad(Stmt.TileCopy copy, OperandRing ring, boolean multicast) {
  private static final long MAX_BOX = 256;

  /** Why bulk copies cannot move between this matrix and shared memory; null if they can. */
  static @org.jspecify.annotations.Nullable String refusal(Buffer global) {
    if (global.scope() != Scope.GLOBAL || global.rank() != 2 || global.layout() != null) {
      return global.name() + " is no row-major matrix in global memory";
    }
    long row = global.extent(1) * global.dtype().bytes();
    return row % 16 == 0
        ? null
        : "rows of " + global.name() + " take " + row + " bytes; tensor maps need a multiple of 16";
  }

  /**
   * Selects the bulk copy for a copy.
   *
   * @throws LoweringException if there is none
   */
  static BulkLoad of(Stmt.TileCopy copy, long stages, WorkItems work) {
    Region to = copy.to();
    Region from = copy.from();
    String why = refusal(from.buffer());
    if (why == null && to.buffer().scope() != Scope.SHARED) {
      why = to.buffer().name() + " is not in shared memory";
    }
    if (why == null && to.buffer().dtype() != from.buffer().dtype()) {
      why = "bulk copies convert nothing";
    }
    if (why == null && !to.equals(Region.whole(to.buffer()))) {
      why = "it fills only a part of " + to.buffer().name();
    }
    if (why == null && to.buffer().extent(0) > MAX_BOX) {
      why = "a box has at most " + MAX_BOX + " rows";
    }
    if (why != null) {
      throw new LoweringException(
          "no bulk copy from %s to %s: %s"
              .formatted(from.buffer().name(), to.buffer().name(), why));
    }
    OperandRing ring = OperandRing.of(to.buffer(), stages);
    // Parts must begin where a swizzle does: every 8 rows.
    boolean parts = ring.rows() % (8 * work.clusterSize()) == 0;
    boolean wanted = copy.attrs().has("multicast") && work.clusterSize() > 1;
    return new BulkLoad(copy, ring, wanted && parts && isShared(from, work));
  }

  /** Whether all blocks of a cluster copy the same tile. */
  private static boolean isShared(Region from, WorkItems work) {
    boolean[] found = {false};
    work.each(
        item -> {
          Var differs = work.clusterM() > 1 ? item.row() : item.column();
          for (Range range : item.at().region(from).ranges()) {
            Walk.expressions(range.min(), e -> found[0] |= e == differs);
          }
          return Stmt.Seq.EMPTY;
        });
    return !found[0];
  }

  /**
   * Starts the copy into a stage.
   *
   * @param step of the pipelined loop
   * @param full barrier that the bytes count at
   */
  Stmt issue(WorkItems work, WorkItems.Item item, Var loop, Expr step, Expr stage, Expr full) {
    Region from = Substitution.ofVars(Map.of(loop, step)).region(item.at().region(copy.from()));
    Expr row = from.ranges().get(0).min();
    Expr column = from.ranges().get(1).min();
    Buffer global = from.buffer();
    long size = work.clusterSize();
    return Stmts.loop(
        ForKind.UNROLLED,
        "p",
        ring.panels(),
        panel -> {
          Expr at = Exprs.add(column, Exprs.mul(panel, ring.width()));
          if (!multicast) {
            return Exprs.evaluate(
                HopperIntrinsics.BULK_LOAD,
                ring.at(stage, panel, Exprs.i32(0), Exprs.i32(0)),
                new Expr.AddressOf(global, List.of(row, at)),
                full,
                Exprs.i32(ring.rows()),
                Exprs.i32(ring.width()));
          }
          Expr part = Exprs.mul(work.rank(), ring.rows() / size);
          return Exprs.evaluate(
              HopperIntrinsics.BULK_LOAD_MULTICAST,
              ring.at(stage, panel, part, Exprs.i32(0)),
              new Expr.AddressOf(global, List.of(Exprs.add(row, part), at)),
              full,
              Exprs.i32(ring.rows() / size),
              Exprs.i32(ring.width()),
              Exprs.i32((1L << size) - 1));
        });
  }
}
