package dev.warpwright.lower.gpu;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.MatrixRows;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A copy of an operand's tile that one thread starts and the copy engine carries out. Blocks of a
 * cluster that need the same tile load an equal part of its rows each, into all of them.
 */
public record BulkLoad(Stmt.TileCopy copy, OperandRing ring, Sharing sharing) {
  /** Which blocks of a cluster copy the same tile together. */
  public enum Sharing {
    NONE,
    /** Those that are neighbours along the rows of the result. */
    ALONG_M,
    /** Those that are neighbours along its columns. */
    ALONG_N
  }

  private static final long MAX_BOX = 256;

  /** Bytes whose multiples copies begin at in shared memory. */
  private static final long ALIGNMENT = 128;

  /** Why bulk copies cannot move between this matrix and shared memory; null if they can. */
  public static @Nullable String refusal(Buffer global) {
    if (global.scope() != Scope.GLOBAL || !MatrixRows.are(global)) {
      return global.name() + " is no row-major matrix in global memory";
    }
    int bytes = global.dtype().bytes();
    long row = MatrixRows.pitch(global) * bytes;
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

  /** Why bulk copies cannot move a tile from shared memory into this matrix; null if they can. */
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

  /** Whether only the alignment of its rows keeps a matrix from bulk copies. */
  public static boolean isUnaligned(Buffer global) {
    return global.scope() == Scope.GLOBAL
        && global.rank() >= 2
        && global.layout() == null
        && refusal(global) != null;
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
    if (why == null && from.tile().size() != 2) {
      why = "it is no tile of one matrix";
    }
    if (why == null && !to.equals(Region.whole(to.buffer()))) {
      why = "it fills only a part of " + to.buffer().name();
    }
    if (why == null && to.buffer().extent(0) > MAX_BOX) {
      why = "a box has at most " + MAX_BOX + " rows";
    }
    if (why != null) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "no bulk copy from %s to %s: %s",
              from.buffer().name(),
              to.buffer().name(),
              why));
    }
    OperandRing ring = OperandRing.of(to.buffer(), stages);
    Sharing sharing = copy.attrs().has("multicast") ? sharing(from, work) : Sharing.NONE;
    long blocks = blocks(sharing, work);
    long part = ring.rows() / blocks * ring.width() * to.buffer().dtype().bytes();
    boolean parts = ring.rows() % blocks == 0 && (blocks == 1 || part % ALIGNMENT == 0);
    return new BulkLoad(copy, ring, parts ? sharing : Sharing.NONE);
  }

  /** Along which dimension of a cluster blocks copy the same tile: "m" or "n"; null for none. */
  public static @Nullable String shared(Stmt.TileCopy copy, WorkItems work) {
    return switch (sharing(copy.from(), work)) {
      case NONE -> null;
      case ALONG_M -> "m";
      case ALONG_N -> "n";
    };
  }

  private static Sharing sharing(Region from, WorkItems work) {
    boolean[] differs = new boolean[2];
    work.each(
        item -> {
          for (Range range : item.at().region(from).ranges()) {
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
      return Sharing.ALONG_M;
    }
    return work.clusterN() > 1 && !differs[1] ? Sharing.ALONG_N : Sharing.NONE;
  }

  boolean multicast() {
    return sharing != Sharing.NONE;
  }

  private static long blocks(Sharing sharing, WorkItems work) {
    return switch (sharing) {
      case NONE -> 1;
      case ALONG_M -> work.clusterM();
      case ALONG_N -> work.clusterN();
    };
  }

  private static Expr place(Region from, Expr row, Expr column) {
    return new Expr.AddressOf(from.buffer(), Guards.indices(from, List.of(row, column)));
  }

  /** This block's place among those that share. */
  private Expr place(WorkItems work) {
    return sharing == Sharing.ALONG_M ? work.rankM() : work.rankN();
  }

  /** Bits of the ranks that share. */
  private Expr mask(WorkItems work) {
    if (sharing == Sharing.ALONG_N) {
      Expr row = Exprs.i32((1L << work.clusterN()) - 1);
      return work.clusterM() == 1
          ? row
          : Exprs.fold(BinaryOp.SHL, row, Exprs.mul(work.rankM(), work.clusterN()));
    }
    long column = 0;
    for (long m = 0; m < work.clusterM(); m++) {
      column |= 1L << m * work.clusterN();
    }
    return work.clusterN() == 1
        ? Exprs.i32(column)
        : Exprs.fold(BinaryOp.SHL, Exprs.i32(column), work.rankN());
  }

  /**
   * Starts the copy into a stage.
   *
   * @param step of the pipelined loop
   * @param full barrier that the bytes count at
   */
  Stmt issue(WorkItems work, WorkItems.Item item, Var loop, Expr step, Expr stage, Expr full) {
    Region from = Substitution.ofVars(Map.of(loop, step)).region(item.at().region(copy.from()));
    boolean planes = from.buffer().rank() == 3;
    long size = blocks(sharing, work);
    return Stmts.loop(
        ForKind.UNROLLED,
        "p",
        ring.panels(),
        panel -> {
          Expr at = Exprs.mul(panel, ring.width());
          if (!multicast()) {
            return Exprs.evaluate(
                planes ? HopperIntrinsics.BULK_LOAD_3D : HopperIntrinsics.BULK_LOAD,
                ring.at(stage, panel, Exprs.i32(0), Exprs.i32(0)),
                place(from, Exprs.i32(0), at),
                full,
                Exprs.i32(ring.rows()),
                Exprs.i32(ring.width()));
          }
          Expr part = Exprs.mul(place(work), ring.rows() / size);
          return Exprs.evaluate(
              planes
                  ? HopperIntrinsics.BULK_LOAD_3D_MULTICAST
                  : HopperIntrinsics.BULK_LOAD_MULTICAST,
              ring.at(stage, panel, part, Exprs.i32(0)),
              place(from, part, at),
              full,
              Exprs.i32(ring.rows() / size),
              Exprs.i32(ring.width()),
              mask(work));
        });
  }
}
