package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Substitution;
import java.util.function.Function;

/**
 * Rows from memory that are no whole 16 bytes, on their way to a tile whose rows lie side by side
 * ({@link MMajor}): a thread reads some elements before it stores any of them. Each by itself would
 * wait for memory, in a branch of its own (docs/decisions/0123-odd-rows-in-batches.md).
 */
final class RowBatches {
  /** Elements that a thread has under way at once. */
  private static final int BATCH = 8;

  private RowBatches() {}

  /** Whether a store of a map over so many points is one. */
  static boolean are(Stmt.Store store, long points, ThreadCode code) {
    return MMajor.is(store.buffer())
        && points % (BATCH * code.threads()) == 0
        && ThreadCode.comesFromMemory(store.value());
  }

  static Stmt of(Stmt.TileMap map, Stmt.Store store, long points, ThreadCode code) {
    return Stmts.loop(
        ForKind.SERIAL,
        "batch",
        points / (BATCH * code.threads()),
        batch -> {
          Function<Expr, Substitution> at =
              it -> {
                Expr round = Exprs.add(Exprs.mul(batch, BATCH), it);
                Expr piece = Exprs.add(Exprs.mul(round, code.threads()), code.thread());
                return MapLowering.at(map, piece);
              };
          return ThreadCode.withTemporary(
              "loaded",
              DType.F32,
              BATCH,
              loaded ->
                  Stmts.seq(
                      ThreadCode.each(
                          loaded,
                          (it, type) ->
                              Guards.where(Exprs.bool(true), at.apply(it).expr(store.value()))),
                      Stmts.loop(
                          ForKind.UNROLLED,
                          "it",
                          BATCH,
                          it ->
                              new Stmt.Store(
                                  store.buffer(),
                                  store.indices().stream().map(at.apply(it)::expr).toList(),
                                  Exprs.load(loaded, it)))));
        });
  }
}
