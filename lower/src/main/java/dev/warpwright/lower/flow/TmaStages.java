package dev.warpwright.lower.flow;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.lower.gpu.Guards;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.tile.DistributeWork;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The part of {@link LowerPipes} for stages that one thread fills by TMA copies, panel by panel,
 * or, of what lies in memory as the stage does, by linear ones.
 *
 * <pre>{@code
 * tile.copy As <- A[…] [by = "bulk"]   →   mbarrier.arrive.expect_tx(&full[s], bytes)
 *                                          bulk.load.2d(&As[s, 0, 0], &A[…], &full[s], rows, width) …
 * tile.copy Bs <- B[…] [by = "linear"] →   mbarrier.arrive.expect_tx(&full[s], bytes)
 *                                          bulk.load.linear(&Bs[s, 0, 0], &B[…], &full[s], rows, columns)
 * }</pre>
 */
final class TmaStages {
  /**
   * Panels that are copied one after the other without a loop, at most. Each linear copy has
   * addresses of its own, and a warp that copies has 24 registers: with 15 panels of three parts of
   * the columns ptxas spilled 440 bytes, by a loop nothing.
   */
  private static final int MOST_UNROLLED = 8;

  private TmaStages() {}

  /** One thread says how many bytes it expects, and starts to copy them. */
  static Stmt fill(List<Stmt.TileCopy> copies, LoweredPipe lowered, Expr stage) {
    List<Stmt> loads = new ArrayList<>();
    long bytes = 0;
    for (Stmt.TileCopy copy : copies) {
      bytes += LoweredPipe.bytes(copy);
      loads.add(load(copy, lowered, stage));
    }
    return Stmts.seq(lowered.barriers().expect(stage, bytes), Stmts.seq(loads));
  }

  /** Fills the slices of a resident pipe, each with a barrier of its own. */
  static Stmt slices(Stmt s, LoweredPipe lowered) {
    return switch (s) {
      case Stmt.Seq(List<Stmt> stmts) ->
          Stmts.seq(stmts.stream().map(each -> slices(each, lowered)).toList());
      case Stmt.For f -> f.withBody(slices(f.body(), lowered));
      case Stmt.Comment _ -> s;
      case Stmt.TileCopy copy when copy.to().ranges().getFirst().isPoint() -> {
        Expr slice = copy.to().ranges().getFirst().min();
        yield fill(List.of(copy), lowered, slice);
      }
      default ->
          throw new LoweringException(
              "pipe " + lowered.pipe().name() + " is not filled slice by slice");
    };
  }

  /** The copies of a tile that lies in both memories in the same order: at once, or by panels. */
  private static Stmt linear(Stmt.TileCopy copy, LoweredPipe lowered, Expr stage) {
    Buffer ring = Objects.requireNonNull(lowered.ring(copy.to().buffer()));
    long rows = Guards.extent(copy.to().tile().get(0));
    long columns = Guards.extent(copy.to().tile().get(1));
    boolean whole = rows == ring.extent(ring.rank() - 2);
    long width = whole ? columns : SwizzledTile.width(ring);
    boolean rolled = columns / width > MOST_UNROLLED;
    Stmt panels =
        Stmts.loop(
            rolled ? ForKind.SERIAL : ForKind.UNROLLED,
            "p",
            columns / width,
            panel -> {
              Expr column = Exprs.mul(panel, width);
              return Exprs.evaluate(
                  HopperIntrinsics.BULK_LOAD_LINEAR,
                  new Expr.AddressOf(ring, List.of(stage, Exprs.i32(0), column)),
                  new Expr.AddressOf(
                      copy.from().buffer(),
                      Guards.indices(copy.from(), List.of(Exprs.i32(0), column))),
                  lowered.barriers().fullAt(stage),
                  Exprs.i32(rows),
                  Exprs.i32(width));
            });
    // Said, for compilers unroll such a loop by themselves.
    return rolled && panels instanceof Stmt.For f
        ? f.withAttrs(Attrs.NONE.with("unroll", 1))
        : panels;
  }

  /** The TMA copies of a tile, panel by panel. */
  private static Stmt load(Stmt.TileCopy copy, LoweredPipe lowered, Expr stage) {
    String by = copy.attrs().getString(ChooseMovement.BY);
    if (ChooseMovement.LINEAR.equals(by)) {
      return linear(copy, lowered, stage);
    }
    if (!ChooseMovement.BULK.equals(by)) {
      throw new LoweringException(
          "the copy to " + copy.to().buffer().name() + " is carried by nobody");
    }
    Buffer ring = Objects.requireNonNull(lowered.ring(copy.to().buffer()));
    Region from = copy.from();
    long rows = Guards.extent(copy.to().tile().get(0));
    long columns = Guards.extent(copy.to().tile().get(1));
    long width = SwizzledTile.width(ring);
    boolean planes = from.buffer().rank() == 3;
    String along = copy.attrs().getString(DistributeWork.MULTICAST);
    Stmt panels =
        Stmts.loop(
            ForKind.UNROLLED,
            "p",
            columns / width,
            panel -> {
              Expr column = Exprs.mul(panel, width);
              return Exprs.evaluate(
                  planes ? HopperIntrinsics.BULK_LOAD_3D : HopperIntrinsics.BULK_LOAD,
                  new Expr.AddressOf(ring, List.of(stage, Exprs.i32(0), column)),
                  new Expr.AddressOf(
                      from.buffer(), Guards.indices(from, List.of(Exprs.i32(0), column))),
                  lowered.barriers().fullAt(stage),
                  Exprs.i32(rows),
                  Exprs.i32(width));
            });
    Attrs shared = along == null ? null : Attrs.NONE.with(DistributeWork.MULTICAST, along);
    return shared == null
        ? panels
        : new Stmt.For(
            Var.index("share"), Exprs.i32(0), Exprs.i32(1), ForKind.SERIAL, null, shared, panels);
  }
}
