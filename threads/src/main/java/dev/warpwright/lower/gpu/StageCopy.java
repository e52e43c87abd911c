package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A copy of an operand's tile into a stage of its ring by all threads of a block: asynchronous
 * where the alignment of rows allows chunks of 16, 8 or 4 bytes and the target has such copies;
 * otherwise loaded into registers when the copy begins, and stored when it ends. What lies outside
 * of the matrix becomes zero.
 *
 * @param lanes elements of a chunk
 * @param registers what is on its way through registers; null for asynchronous copies
 */
public record StageCopy(
    Stmt.TileCopy copy, OperandRing ring, int threads, int lanes, @Nullable Buffer registers) {
  private static final int CHUNK = 16;

  /** Chunks that {@link #move} has under way at once. */
  private static final long TOGETHER = 8;

  /** Selects the copy into a ring. */
  public static StageCopy of(
      Stmt.TileCopy copy, OperandRing ring, int threads, boolean asynchronous) {
    Region to = copy.to();
    Region from = copy.from();
    if (from.buffer().scope() != Scope.GLOBAL
        || from.tile().size() != 2
        || from.buffer().layout() != null
        || to.buffer().scope() != Scope.SHARED
        || to.buffer().dtype() != from.buffer().dtype()
        || !to.equals(Region.whole(to.buffer()))) {
      throw new LoweringException(
          String.format(
                  Locale.ROOT,
                  "the copy from %s to %s in a pipelined loop is none of a matrix in global memory"
                      + " to a whole",
                  from.buffer().name(),
                  to.buffer().name())
              + " tile of its type");
    }
    int bytes = to.buffer().dtype().bytes();
    int lanes = CHUNK / bytes;
    while (lanes > 1 && !fits(from, lanes)) {
      lanes /= 2;
    }
    if (asynchronous && lanes * bytes >= 4) {
      return new StageCopy(copy, ring, threads, lanes, null);
    }
    long pieces = Math.ceilDiv(to.buffer().storageElements() / lanes, threads);
    Buffer registers =
        Buffer.of(to.buffer().name() + "_next", to.buffer().dtype(), Scope.LOCAL, pieces * lanes);
    return new StageCopy(copy, ring, threads, lanes, registers);
  }

  private static boolean fits(Region from, int lanes) {
    return from.buffer().extent(from.buffer().rank() - 1) % lanes == 0
        && from.buffer().alignment() >= lanes * from.buffer().dtype().bytes()
        && CopyLowering.multipleOf(from.ranges().getLast().min(), lanes);
  }

  public boolean isAsynchronous() {
    return registers == null;
  }

  /** Starts to copy this tile. */
  public Stmt begin(Region from, Var tid, Expr stage) {
    return pieces(tid, load(from, stage));
  }

  /** Copies this tile, some chunks at a time: little code, and few registers. */
  public Stmt move(Region from, Var tid, Expr stage) {
    long together = together(rounds());
    return Stmts.loop(
        ForKind.SERIAL,
        "g",
        rounds() / together,
        g -> {
          Expr first = Exprs.mul(g, together);
          Stmt load = pieces(tid, first, together, load(from, stage));
          Buffer buffer = registers;
          return buffer == null
              ? load
              : Stmts.seq(load, pieces(tid, first, together, store(buffer, stage)));
        });
  }

  /** The same copy for {@link #move}, which needs fewer registers. */
  public StageCopy inGroups() {
    Buffer buffer = registers;
    return buffer == null
        ? this
        : new StageCopy(
            copy,
            ring,
            threads,
            lanes,
            Buffer.of(buffer.name(), buffer.dtype(), Scope.LOCAL, together(rounds()) * lanes));
  }

  private static long together(long rounds) {
    long together = Math.min(TOGETHER, rounds);
    while (rounds % together != 0) {
      together--;
    }
    return together;
  }

  private Piece load(Region from, Expr stage) {
    return (index, row, column) -> {
      List<Expr> at = Guards.indices(from, List.of(row, column));
      // Rows are whole numbers of chunks.
      Expr inside = Guards.insideOfGrid(from, at);
      List<Expr> clamped = clamped(from, at);
      if (registers == null) {
        return asynchronous(from.buffer(), clamped, inside, stage, row, column);
      }
      List<Expr> register = List.of(Exprs.mul(index, lanes));
      Stmt load = ThreadCode.move(registers, register, from.buffer(), at, lanes);
      if (Exprs.isConst(inside, 1)) {
        return load;
      }
      Stmt zero =
          Stmts.loop(
              ForKind.UNROLLED,
              "v",
              lanes,
              v ->
                  new Stmt.Store(
                      registers,
                      List.of(Exprs.add(Exprs.mul(index, lanes), v)),
                      Exprs.zero(dev.warpwright.ir.type.Type.of(registers.dtype()))));
      return new Stmt.If(inside, load, zero);
    };
  }

  /** Ends a copy through registers. */
  public Stmt end(Var tid, Expr stage) {
    Buffer from = registers;
    if (from == null) {
      return Stmt.Seq.EMPTY;
    }
    return pieces(tid, store(from, stage));
  }

  private Piece store(Buffer from, Expr stage) {
    return (index, row, column) ->
        ThreadCode.move(
            ring.ring(),
            ring.indices(stage, row, column),
            from,
            List.of(Exprs.mul(index, lanes)),
            lanes);
  }

  private Stmt asynchronous(
      Buffer from, List<Expr> at, Expr inside, Expr stage, Expr row, Expr column) {
    return chunk(
        new Expr.AddressOf(ring.ring(), ring.indices(stage, row, column)),
        new Expr.AddressOf(from, at),
        inside,
        lanes * from.dtype().bytes());
  }

  /**
   * An asynchronous copy of 16, 8 or 4 bytes.
   *
   * @param inside whether there is anything to copy; else the bytes become zero, and nothing is
   *     read
   */
  static Stmt chunk(Expr to, Expr from, Expr inside, int bytes) {
    TargetIntrinsic intrinsic =
        switch (bytes) {
          case 16 -> Intrinsics.CP_ASYNC_16;
          case 8 -> Intrinsics.CP_ASYNC_8;
          default -> Intrinsics.CP_ASYNC_4;
        };
    Expr present =
        Exprs.isConst(inside, 1)
            ? Exprs.i32(bytes)
            : Exprs.mul(Exprs.cast(DType.I32, inside), bytes);
    return Exprs.evaluate(intrinsic, to, from, present);
  }

  /** Code for a chunk of the tile. */
  private interface Piece {
    Stmt code(Expr index, Expr row, Expr column);
  }

  /** How many chunks a thread moves. */
  private long rounds() {
    return Math.ceilDiv(ring.rows() * (ring.tile().extent(1) / lanes), threads);
  }

  /** This thread's chunks: neighbouring threads take neighbouring chunks of a row. */
  private Stmt pieces(Var tid, Piece body) {
    return pieces(tid, Exprs.i32(0), rounds(), body);
  }

  /** So many of this thread's chunks, from {@code first} on. */
  private Stmt pieces(Var tid, Expr first, long rounds, Piece body) {
    long perRow = ring.tile().extent(1) / lanes;
    long count = ring.rows() * perRow;
    if (threads % perRow == 0) {
      Var firstRow = Var.index("copy_row");
      Var column = Var.index("copy_col");
      long rowsAtOnce = threads / perRow;
      Stmt loop =
          Stmts.loop(
              ForKind.UNROLLED,
              "r",
              rounds,
              r -> {
                Expr row = Exprs.add(firstRow, Exprs.mul(Exprs.add(first, r), rowsAtOnce));
                Stmt code = body.code(r, row, column);
                return ring.rows() % rowsAtOnce == 0
                    ? code
                    : new Stmt.If(Exprs.lt(row, Exprs.i32(ring.rows())), code, null);
              });
      return new Stmt.Let(
          firstRow,
          Exprs.div(tid, perRow),
          new Stmt.Let(column, Exprs.mul(Exprs.mod(tid, perRow), lanes), loop));
    }
    return Stmts.loop(
        ForKind.UNROLLED,
        "r",
        rounds,
        r -> {
          Var piece = Var.index("piece");
          Stmt code =
              body.code(r, Exprs.div(piece, perRow), Exprs.mul(Exprs.mod(piece, perRow), lanes));
          Stmt guarded =
              count % threads == 0
                  ? code
                  : new Stmt.If(Exprs.lt(piece, Exprs.i32(count)), code, null);
          return new Stmt.Let(
              piece, Exprs.add(Exprs.mul(Exprs.add(first, r), threads), tid), guarded);
        });
  }

  /** The same place, or another one inside where the chunk lies outside and nothing is read. */
  private List<Expr> clamped(Region from, List<Expr> at) {
    List<Expr> result = new ArrayList<>();
    for (int d = 0; d < at.size(); d++) {
      long last = d < at.size() - 1 ? 1 : lanes;
      result.add(
          Guards.mayReachOut(from, d)
              ? Exprs.min(at.get(d), Exprs.add(from.buffer().shape().get(d), -last))
              : at.get(d));
    }
    return result;
  }
}
