package dev.warpwright.lower.copy;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.intrinsic.VectorIntrinsics;
import java.util.List;
import java.util.function.Function;

/**
 * Squares of 16 by 16 bytes in a thread's registers, a row in four words: transposed four by four,
 * so that a column is four words, too.
 *
 * @param loaded rows of one square or several, one below the other
 * @param column four words, which are stored at once
 * @param rows a word of four rows
 * @param words a word of all rows, transposed
 */
record TransposedBytes(Buffer loaded, Buffer column, Buffer rows, Buffer words) {
  private static final int WORDS = 4;

  static TransposedBytes of(String name, Buffer loaded) {
    return new TransposedBytes(
        loaded,
        Buffer.of(name + "_column", DType.U32, Scope.LOCAL, WORDS),
        Buffer.of(name + "_rows", DType.U32, Scope.LOCAL, WORDS),
        Buffer.of(name + "_words", DType.U32, Scope.LOCAL, (long) WORDS * WORDS));
  }

  /** Registers beside what is loaded. */
  List<Buffer> registers() {
    return List.of(column, rows, words);
  }

  /**
   * Visits the columns of a square.
   *
   * @param number of the square
   * @param stored code that stores a column, by its number
   */
  Stmt columns(Expr number, Function<Expr, Stmt> stored) {
    return unrolled(
        "w",
        w ->
            Stmts.seq(
                unrolled("b", b -> transpose(number, w, b)),
                unrolled(
                    "v",
                    v ->
                        Stmts.seq(
                            unrolled(
                                "b",
                                b ->
                                    new Stmt.Store(
                                        column,
                                        List.of(b),
                                        Exprs.load(words, Exprs.add(Exprs.mul(b, WORDS), v)))),
                            stored.apply(Exprs.add(Exprs.mul(w, WORDS), v))))));
  }

  /** A word of four rows. */
  private Stmt transpose(Expr number, Expr w, Expr block) {
    return Stmts.seq(
        unrolled(
            "y",
            i -> {
              Expr row =
                  Exprs.add(
                      Exprs.mul(number, WORDS * WORDS), Exprs.add(Exprs.mul(block, WORDS), i));
              return new Stmt.Store(
                  rows, List.of(i), Exprs.load(loaded, Exprs.add(Exprs.mul(row, WORDS), w)));
            }),
        Exprs.evaluate(
            VectorIntrinsics.TRANSPOSE_B8_X4,
            new Expr.AddressOf(words, List.of(Exprs.mul(block, WORDS))),
            new Expr.AddressOf(rows, List.of(Exprs.i32(0)))));
  }

  private static Stmt unrolled(String name, Function<Expr, Stmt> body) {
    return Stmts.loop(ForKind.UNROLLED, name, WORDS, body::apply);
  }
}
