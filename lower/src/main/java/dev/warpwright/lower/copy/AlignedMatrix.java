package dev.warpwright.lower.copy;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.lower.pass.LoweringException;
import java.math.BigInteger;
import java.util.List;

/**
 * A matrix in global memory whose rows begin anywhere, copied to one whose rows begin at multiples
 * of 16 bytes, as TMA copies need them. A thread loads 16 bytes of a row, by as many elements as
 * all rows are aligned to, and stores them at once; what is left of a row by single elements.
 *
 * <pre>{@code
 * loaded[q * V +: V] = from[r, c + q * V +: V]      16 bytes of a row, V elements each
 * to[r, c +: 16 bytes] = loaded
 * }</pre>
 *
 * <p>Neighbouring lanes have neighbouring pieces of a row, so a warp stores whole lines, and what
 * it loads by small pieces is in L1 after the first of them.
 *
 * @param from what is read
 * @param to the same matrix, with other gaps between its rows
 * @param threads of a block
 * @param registers that each of them has
 * @param blocks that share the matrix
 */
record AlignedMatrix(Buffer from, Buffer to, int threads, int registers, long blocks)
    implements PackedMatrix {
  private static final int WORD = 4;

  /** Registers of what a thread has under way: each load has an address of its own, too. */
  private static final int UNDER_WAY = 32;

  AlignedMatrix {
    if (from.dtype() != to.dtype()
        || from.rank() != 2
        || !from.shape().equals(to.shape())
        || !PackedMatrix.isAligned(to)) {
      throw new LoweringException(
          from.name() + " is not copied to " + to.name() + ", whose rows are to be aligned");
    }
  }

  /** Elements of 16 bytes. */
  private int elements() {
    return CHUNK / from.dtype().bytes();
  }

  /** Elements that one load may take: all rows begin at multiples of them. */
  private int together() {
    long aligned = Math.min(CHUNK, from.alignment()) / from.dtype().bytes();
    return BigInteger.valueOf(PackedMatrix.pitch(from))
        .gcd(BigInteger.valueOf(aligned))
        .intValueExact();
  }

  /** Pieces of a row, the last one maybe short. */
  private long across() {
    return Math.ceilDiv(from.extent(1), elements());
  }

  private long pieces() {
    return from.extent(0) * across();
  }

  /** Pieces that a thread has under way at once; loads of less than a word take a register each. */
  private long rounds() {
    int each = Math.max(CHUNK / WORD, elements() / together());
    long most = Math.max(1, Math.min(UNDER_WAY, registers - OTHER_REGISTERS) / each);
    return Math.min(most, Math.ceilDiv(pieces(), threads * blocks));
  }

  @Override
  public long shares() {
    return Math.ceilDiv(pieces(), rounds() * threads);
  }

  @Override
  public Stmt move(Expr share, Var tid) {
    Buffer loaded =
        Buffer.of(to.name() + "_loaded", from.dtype(), Scope.LOCAL, rounds() * elements());
    return Stmts.alloc(
        List.of(loaded),
        Stmts.seq(
            each(share, tid, (at, r, c, lanes) -> moved(loaded, at, from, List.of(r, c), lanes)),
            each(
                share,
                tid,
                (at, r, c, lanes) ->
                    // What was loaded by parts of 16 bytes is stored at once.
                    lanes == 1
                        ? ThreadCode.move(to, List.of(r, c), loaded, List.of(at), 1)
                        : ThreadCode.move(to, List.of(r, c), loaded, List.of(at), elements()))));
  }

  /** Loads of a piece: its place in registers and in the matrix. */
  private Stmt moved(Buffer loaded, Expr at, Buffer matrix, List<Expr> place, int lanes) {
    if (lanes == 1) {
      return ThreadCode.move(loaded, List.of(at), matrix, place, 1);
    }
    int each = together();
    return Stmts.loop(
        ForKind.UNROLLED,
        "q",
        elements() / each,
        q -> {
          Expr further = Exprs.mul(q, each);
          Expr column = Exprs.add(place.getLast(), further);
          return ThreadCode.move(
              loaded,
              List.of(Exprs.add(at, further)),
              matrix,
              List.of(place.getFirst(), column),
              each);
        });
  }

  /** Code for elements of a piece: their place in registers, row and column, and how many. */
  private interface Piece {
    Stmt code(Expr at, Expr row, Expr column, int lanes);
  }

  private Stmt each(Expr share, Var tid, Piece piece) {
    return Stmts.loop(
        ForKind.UNROLLED,
        "u",
        rounds(),
        u -> {
          Var number = Var.index("piece");
          Var row = Var.index("row");
          Var column = Var.index("column");
          Expr ofShare = Exprs.add(Exprs.mul(u, threads), tid);
          Expr at = Exprs.mul(u, elements());
          Stmt code =
              new Stmt.Let(
                  row,
                  Exprs.div(number, across()),
                  new Stmt.Let(
                      column,
                      Exprs.mul(Exprs.mod(number, across()), elements()),
                      pieces(at, row, column, piece)));
          boolean even = pieces() % (rounds() * threads) == 0;
          return new Stmt.Let(
              number,
              Exprs.add(Exprs.mul(share, rounds() * threads), ofShare),
              even ? code : new Stmt.If(Exprs.lt(number, Exprs.i32(pieces())), code, null));
        });
  }

  /** A whole piece, or the elements of a row's last one. */
  private Stmt pieces(Expr at, Expr row, Expr column, Piece piece) {
    Stmt whole = piece.code(at, row, column, elements());
    long rest = from.extent(1) % elements();
    if (rest == 0) {
      return whole;
    }
    Stmt some =
        Stmts.loop(
            ForKind.UNROLLED,
            "e",
            rest,
            e -> piece.code(Exprs.add(at, e), row, Exprs.add(column, e), 1));
    return new Stmt.If(Exprs.lt(column, Exprs.i32(from.extent(1) - elements() + 1)), whole, some);
  }
}
