package dev.warpwright.lower.copy;

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
import dev.warpwright.ir.type.Type;
import dev.warpwright.lower.gpu.CopyLowering;
import dev.warpwright.lower.gpu.Guards;
import dev.warpwright.lower.gpu.OperandRing;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A copy of an operand's tile into a stage of its ring by all threads of a block: asynchronous
 * where the alignment of rows allows chunks of 16, 8 or 4 bytes and the target has such copies;
 * otherwise loaded into registers when the copy begins, and stored when it ends. What lies outside
 * of the matrix becomes zero.
 *
 * <p>Elements whose rows begin anywhere need not go one by one: {@link ShiftedCopy}.
 *
 * @param lanes elements of a chunk
 * @param registers what is on its way through registers; null for asynchronous copies
 */
public record StageCopy(
    Stmt.TileCopy copy, OperandRing ring, int threads, int lanes, @Nullable Buffer registers) {
  /** The value of a copy's attribute {@code by} that asks for aligned vectors that are shifted. */
  public static final String SHIFTED = "shifted";

  private static final int CHUNK = 16;

  /** Chunks that {@link #move} has under way at once. */
  private static final long TOGETHER = 8;

  /** Registers that a thread needs beside the aligned vectors that it has under way. */
  private static final int OTHER_REGISTERS = 32;

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
    if (isShifted(copy)) {
      lanes = CHUNK / bytes;
    }
    long pieces = Math.ceilDiv(to.buffer().storageElements() / lanes, threads);
    return new StageCopy(copy, ring, threads, lanes, registers(copy, pieces, lanes));
  }

  /** For so many chunks on their way. */
  private static Buffer registers(Stmt.TileCopy copy, long chunks, int lanes) {
    Buffer tile = copy.to().buffer();
    String name = tile.name() + "_next";
    return isShifted(copy)
        ? Buffer.of(name, DType.U32, Scope.LOCAL, chunks * ShiftedCopy.RAW)
        : Buffer.of(name, tile.dtype(), Scope.LOCAL, chunks * lanes);
  }

  /** Whether the copy can go by {@link #SHIFTED}: chunks begin at 16 bytes of some row. */
  public static boolean canBeShifted(Stmt.TileCopy copy) {
    Region from = copy.from();
    int bytes = from.buffer().dtype().bytes();
    return from.buffer().alignment() >= CHUNK
        && from.buffer().rank() <= 3
        && CopyLowering.multipleOf(from.ranges().getLast().min(), CHUNK / bytes);
  }

  private static boolean isShifted(Stmt.TileCopy copy) {
    return SHIFTED.equals(copy.attrs().getString("by"));
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
    Buffer own = registers;
    int each = isShifted(copy) ? ShiftedCopy.RAW : lanes;
    long together = own == null ? together(TOGETHER) : own.extent(0) / each;
    return Stmts.loop(
        ForKind.SERIAL,
        "g",
        rounds() / together,
        g -> {
          Expr first = Exprs.mul(g, together);
          Stmt load = pieces(tid, first, together, load(from, stage));
          return registers == null ? load : Stmts.seq(load, end(from, tid, stage, first, together));
        });
  }

  /**
   * The same copy for {@link #move}, which needs fewer registers.
   *
   * @param all registers of a thread
   */
  public StageCopy inGroups(int all) {
    if (registers == null) {
      return this;
    }
    long most = together(isShifted(copy), all);
    return new StageCopy(copy, ring, threads, lanes, registers(copy, together(most), lanes));
  }

  /**
   * Chunks that a thread has on their way at most.
   *
   * @param shifted whether they come in aligned vectors
   * @param registers of a thread
   */
  public static long together(boolean shifted, int registers) {
    int vectors = Integer.highestOneBit((registers - OTHER_REGISTERS) / ShiftedCopy.RAW);
    return shifted ? Math.clamp(vectors, 1, TOGETHER) : TOGETHER;
  }

  private long together(long most) {
    long together = Math.min(most, rounds());
    while (rounds() % together != 0) {
      together--;
    }
    return together;
  }

  private Piece load(Region from, Expr stage) {
    Buffer raw = registers;
    if (raw != null && isShifted(copy)) {
      return new ShiftedCopy(from, ring, raw).load();
    }
    return (index, row, column) -> {
      List<Expr> at = Guards.indices(from, List.of(row, column));
      // Rows are whole numbers of chunks.
      Expr inside = Guards.insideOfGrid(from, at);
      List<Expr> clamped = clamped(from, at, lanes);
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
                      Exprs.zero(Type.of(registers.dtype()))));
      return new Stmt.If(inside, load, zero);
    };
  }

  /** Ends a copy of this tile through registers. */
  public Stmt end(Region from, Var tid, Expr stage) {
    return registers == null ? Stmt.Seq.EMPTY : end(from, tid, stage, Exprs.i32(0), rounds());
  }

  private Stmt end(Region from, Var tid, Expr stage, Expr first, long rounds) {
    Buffer held = Objects.requireNonNull(registers);
    if (!isShifted(copy)) {
      return pieces(tid, first, rounds, store(held, stage));
    }
    ShiftedCopy shifted = new ShiftedCopy(from, ring, held);
    Stmt last = pieces(tid, first, rounds, ForKind.SERIAL, shifted.lastElements(stage));
    return Stmts.seq(
        pieces(tid, first, rounds, shifted.store(stage)), Stmts.when(shifted.reachesEnd(), last));
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
    return CopyLowering.chunk(
        new Expr.AddressOf(ring.ring(), ring.indices(stage, row, column)),
        new Expr.AddressOf(from, at),
        inside,
        lanes * from.dtype().bytes());
  }

  /** Code for a chunk of the tile. */
  interface Piece {
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
    return pieces(tid, first, rounds, ForKind.UNROLLED, body);
  }

  private Stmt pieces(Var tid, Expr first, long rounds, ForKind kind, Piece body) {
    long perRow = ring.tile().extent(1) / lanes;
    long count = ring.rows() * perRow;
    if (threads % perRow == 0) {
      Var firstRow = Var.index("copy_row");
      Var column = Var.index("copy_col");
      long rowsAtOnce = threads / perRow;
      Stmt loop =
          Stmts.loop(
              kind,
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
        kind,
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
  static List<Expr> clamped(Region from, List<Expr> at, int lanes) {
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
