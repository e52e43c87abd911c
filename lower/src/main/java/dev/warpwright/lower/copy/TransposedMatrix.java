package dev.warpwright.lower.copy;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.VectorIntrinsics;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * A matrix in global memory that becomes another one's transpose, by warps. A thread has squares of
 * as many rows as 16 bytes have elements: it loads 16 bytes of each row, and stores 16 bytes of
 * each column, which are what {@code V} loads hold.
 *
 * <pre>{@code
 * loaded[i] = from[r + i, c +: V]          V rows i, 16 bytes each
 * to[c + v, r +: V] = loaded[i][v]         V columns v, 16 bytes each
 * }</pre>
 *
 * <p>Eight lanes side by side and four one below the other: a warp loads whole lines, and stores
 * whole sectors. Shared memory is not needed, so this may stand in front of a kernel that has all
 * of it.
 *
 * @param from what is read
 * @param to its transpose
 * @param warps of a block
 * @param registers that each of their threads has
 * @param blocks that share the matrix
 */
record TransposedMatrix(Buffer from, Buffer to, int warps, int registers, long blocks)
    implements PackedMatrix {
  private static final int WORDS = CHUNK / Integer.BYTES;
  private static final int LANES_OF_COLUMNS = 8;
  private static final int LANES_OF_ROWS = 4;

  TransposedMatrix {
    int elements = CHUNK / from.dtype().bytes();
    boolean fits =
        from.dtype() == to.dtype()
            && from.dtype().bytes() != 2
            && from.rank() == 2
            && to.rank() == 2
            && from.extent(0) == to.extent(1)
            && from.extent(1) == to.extent(0);
    if (!fits
        || from.extent(0) % elements != 0
        || from.extent(1) % elements != 0
        || !PackedMatrix.isAligned(from)
        || !PackedMatrix.isAligned(to)) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "%s is not transposed into %s in front of all tiles: matrices of 4 or 1 bytes an"
                  + " element, whose rows and columns are multiples of 16 bytes, are",
              from.name(),
              to.name()));
    }
  }

  /** Elements of 16 bytes: rows and columns of a square. */
  private int side() {
    return CHUNK / from.dtype().bytes();
  }

  private long high() {
    return (long) LANES_OF_ROWS * side();
  }

  private long wide() {
    return (long) LANES_OF_COLUMNS * side();
  }

  /** What a warp moves at once is {@link #high} rows and {@link #wide} columns. */
  private long across() {
    return Math.ceilDiv(from.extent(1), wide());
  }

  private long pieces() {
    return Math.ceilDiv(from.extent(0), high()) * across();
  }

  /** Pieces of a share: no more than registers hold, and enough shares for all blocks. */
  private long together() {
    int most = Math.max(1, Math.min(LOADED, registers - OTHER_REGISTERS) / (side() * WORDS));
    return Math.min((long) warps * most, Math.ceilDiv(pieces(), blocks));
  }

  /** Pieces that a warp has under way at once. */
  private long rounds() {
    return Math.ceilDiv(together(), warps);
  }

  @Override
  public long shares() {
    return Math.ceilDiv(pieces(), together());
  }

  @Override
  public Stmt move(Expr share, Var tid) {
    Buffer loaded =
        Buffer.of(to.name() + "_loaded", DType.U32, Scope.LOCAL, rounds() * side() * WORDS);
    TransposedBytes bytes = TransposedBytes.of(to.name(), loaded);
    boolean ofBytes = from.dtype().bytes() == 1;
    List<Buffer> registers = new ArrayList<>(List.of(loaded));
    registers.addAll(ofBytes ? bytes.registers() : List.of(bytes.column()));
    return Stmts.alloc(
        registers,
        Stmts.seq(
            each(share, tid, (number, r, c) -> load(loaded, number, r, c)),
            each(
                share,
                tid,
                (number, r, c) ->
                    ofBytes
                        ? bytes.columns(number, v -> stored(bytes.column(), r, Exprs.add(c, v)))
                        : store(loaded, bytes.column(), number, r, c))));
  }

  /** Code for a square: its number among those of a thread, its first row and column. */
  private interface Square {
    Stmt code(Expr number, Expr row, Expr column);
  }

  private Stmt each(Expr share, Var tid, Square square) {
    return unrolled(
        "u",
        rounds(),
        u -> {
          Var piece = Var.index("piece");
          Var row = Var.index("row");
          Var column = Var.index("column");
          Expr lane = Exprs.mod(tid, 32);
          Expr ofShare = Exprs.add(Exprs.mul(u, warps), Exprs.div(tid, 32));
          Stmt code = square.code(u, row, column);
          Expr inside = inside(ofShare, row, column);
          return new Stmt.Let(
              piece,
              Exprs.add(Exprs.mul(share, together()), ofShare),
              new Stmt.Let(
                  row,
                  Exprs.add(
                      Exprs.mul(Exprs.div(piece, across()), high()),
                      Exprs.mul(Exprs.div(lane, LANES_OF_COLUMNS), side())),
                  new Stmt.Let(
                      column,
                      Exprs.add(
                          Exprs.mul(Exprs.mod(piece, across()), wide()),
                          Exprs.mul(Exprs.mod(lane, LANES_OF_COLUMNS), side())),
                      Exprs.isConst(inside, 1) ? code : new Stmt.If(inside, code, null))));
        });
  }

  /** Squares are inside or outside as a whole; rows behind the last piece are outside, too. */
  private Expr inside(Expr ofShare, Var row, Var column) {
    Expr mine =
        together() % warps == 0 ? Exprs.bool(true) : Exprs.lt(ofShare, Exprs.i32(together()));
    boolean even = pieces() % together() == 0 && from.extent(0) % high() == 0;
    Expr rows = even ? Exprs.bool(true) : Exprs.lt(row, Exprs.i32(from.extent(0)));
    Expr columns =
        from.extent(1) % wide() == 0
            ? Exprs.bool(true)
            : Exprs.lt(column, Exprs.i32(from.extent(1)));
    return Exprs.and(Exprs.and(mine, rows), columns);
  }

  private Stmt load(Buffer loaded, Expr number, Expr r, Expr c) {
    return unrolled(
        "y",
        side(),
        i ->
            Exprs.evaluate(
                VectorIntrinsics.LOAD_X4,
                new Expr.AddressOf(loaded, List.of(word(number, i, Exprs.i32(0)))),
                new Expr.AddressOf(from, List.of(Exprs.add(r, i), c))));
  }

  /** The place of a word of a row in registers. */
  private Expr word(Expr number, Expr row, Expr word) {
    Expr rows = Exprs.add(Exprs.mul(number, side()), row);
    return Exprs.add(Exprs.mul(rows, WORDS), word);
  }

  private Stmt store(Buffer loaded, Buffer column, Expr number, Expr r, Expr c) {
    return unrolled(
        "v",
        WORDS,
        v ->
            Stmts.seq(
                unrolled(
                    "y",
                    WORDS,
                    i ->
                        new Stmt.Store(column, List.of(i), Exprs.load(loaded, word(number, i, v)))),
                stored(column, r, Exprs.add(c, v))));
  }

  private Stmt stored(Buffer column, Expr r, Expr c) {
    return Exprs.evaluate(
        VectorIntrinsics.STORE_GLOBAL_X4,
        new Expr.AddressOf(to, List.of(c, r)),
        new Expr.AddressOf(column, List.of(Exprs.i32(0))));
  }

  private static Stmt unrolled(String name, long count, Function<Expr, Stmt> body) {
    return Stmts.loop(ForKind.UNROLLED, name, count, body::apply);
  }
}
