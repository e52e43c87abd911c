package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.ReduceOp;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Sums over the rows of tiles in shared memory, beside the products that the tiles are for: a
 * thread adds up 16 bytes of a row at a time, of each tile the same, in registers; behind the last
 * tile the threads of a row add theirs up, always in the same order.
 *
 * <pre>{@code
 * tile.fill s = 0                                 own[r] = 0
 * for k {                                         for k {
 *   tile.reduce (i in 16; j in 64) s[i] +=    →     own[r] += f(As[thread / 8 + r * 16, thread % 8 * 8 +: 8])
 *       f(As[i, j])                               }
 * }                                               own[r] += shfl.xor(own[r], 1), 2, 4
 * … s[i] …                                        one thread of 8: s[…] = own[r];  bar.sync;  … s[i] …
 * }</pre>
 */
public final class TileSums {
  private static final int BYTES = 16;
  private static final int WARP = 32;

  private final Buffer sums;
  private final Buffer own;

  /** Threads that share a row. */
  private final long parts;

  private final int lanes;
  private final int threads;
  private final Expr thread;
  private boolean told;

  private TileSums(Buffer sums, long parts, int lanes, int threads, Expr thread) {
    this.sums = sums;
    this.parts = parts;
    this.lanes = lanes;
    this.threads = threads;
    this.thread = thread;
    long rounds = Math.ceilDiv(sums.extent(0) * parts, threads);
    this.own = Buffer.of(sums.name() + "_own", DType.F32, Scope.LOCAL, rounds);
  }

  /** Whether a statement adds to sums of rows in shared memory. */
  public static boolean are(Stmt s) {
    return s instanceof Stmt.TileReduce reduce && isVector(reduce.to());
  }

  /** Whether a buffer has a number for each row in shared memory. */
  public static boolean isVector(Buffer buffer) {
    return buffer.scope() == Scope.SHARED && buffer.rank() == 1 && buffer.dtype() == DType.F32;
  }

  /**
   * The sums that a statement adds to.
   *
   * @param body in which they are added up
   * @param threads that add
   * @param thread one of them
   * @return null if nothing is added to the buffer
   * @throws LoweringException if rows are not shared evenly
   */
  public static @Nullable TileSums of(Buffer sums, Stmt body, int threads, Expr thread) {
    Stmt.TileReduce[] found = new Stmt.TileReduce[1];
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.TileReduce reduce && reduce.to() == sums) {
            found[0] = reduce;
          }
        });
    Stmt.TileReduce reduce = found[0];
    if (reduce == null) {
      return null;
    }
    Buffer tile = tile(reduce);
    int lanes = BYTES / tile.dtype().bytes();
    long columns = Guards.extent(new Range(Exprs.i32(0), reduce.reduceExtents().getFirst()));
    long parts = columns / lanes;
    if (reduce.op() != ReduceOp.SUM
        || reduce.vars().size() != 1
        || reduce.reduceVars().size() != 1
        || !reduce.indices().equals(List.copyOf(reduce.vars()))
        || columns % lanes != 0
        || WARP % parts != 0) {
      throw new LoweringException(
          "the sums " + sums.name() + " are not over rows that threads of a warp share");
    }
    return new TileSums(sums, parts, lanes, threads, thread);
  }

  /** The tile whose rows are added up. */
  private static Buffer tile(Stmt.TileReduce reduce) {
    Buffer[] tile = new Buffer[1];
    boolean[] alike = {true};
    Walk.expressions(
        reduce.value(),
        e -> {
          if (e instanceof Expr.Load(Buffer from, List<Expr> at)) {
            int rank = at.size();
            alike[0] &=
                (tile[0] == null || tile[0] == from)
                    && rank >= 2
                    && at.get(rank - 2) == reduce.vars().getFirst()
                    && at.get(rank - 1) == reduce.reduceVars().getFirst();
            tile[0] = from;
          }
        });
    if (tile[0] == null || !alike[0]) {
      throw new LoweringException("the sums " + reduce.to().name() + " are not of one tile's rows");
    }
    return tile[0];
  }

  /** What a thread adds up. */
  public Buffer registers() {
    return own;
  }

  /** Nothing is added up yet. */
  public Stmt zero() {
    told = false;
    return ThreadCode.each(own, (r, type) -> Exprs.zero(type));
  }

  private Stmt rounds(BiFunction<Expr, Expr, Stmt> body) {
    return Stmts.loop(
        ForKind.UNROLLED,
        "round",
        own.extent(0),
        round ->
            body.apply(
                round, Exprs.add(Exprs.div(thread, parts), Exprs.mul(round, threads / parts))));
  }

  /** Where a thread's row is one of the tile's. */
  private Stmt inside(Expr row, Stmt s) {
    return sums.extent(0) * parts % threads == 0
        ? s
        : new Stmt.If(Exprs.lt(row, Exprs.i32(sums.extent(0))), s, null);
  }

  /** Adds a tile's rows up. */
  public Stmt add(Stmt.TileReduce reduce) {
    Buffer tile = tile(reduce);
    Var column = reduce.reduceVars().getFirst();
    Expr first = Exprs.mul(Exprs.mod(thread, parts), lanes);
    return rounds(
        (round, row) ->
            inside(
                row,
                ThreadCode.withTemporary(
                    "run",
                    tile.dtype(),
                    lanes,
                    run -> {
                      Expr.Load whole = load(reduce);
                      Substitution at =
                          Substitution.ofVars(Map.of(reduce.vars().getFirst(), row, column, first));
                      List<Expr> from = whole.indices().stream().map(at::expr).toList();
                      return Stmts.seq(
                          ThreadCode.move(run, List.of(Exprs.i32(0)), tile, from, lanes),
                          Stmts.loop(
                              ForKind.UNROLLED,
                              "v",
                              lanes,
                              v -> {
                                Expr value = element(reduce, run, v, row, Exprs.add(first, v));
                                List<Expr> place = List.of(round);
                                return new Stmt.Store(
                                    own, place, Exprs.add(new Expr.Load(own, place), value));
                              }));
                    })));
  }

  private static Expr.Load load(Stmt.TileReduce reduce) {
    Expr.Load[] load = new Expr.Load[1];
    Walk.expressions(
        reduce.value(),
        e -> {
          if (e instanceof Expr.Load found) {
            load[0] = found;
          }
        });
    return load[0];
  }

  /** What an element adds, which has been read. */
  private static Expr element(
      Stmt.TileReduce reduce, Buffer run, Expr number, Expr row, Expr column) {
    Expr value =
        new Rewriter() {
          @Override
          public Expr expr(Expr e) {
            return e instanceof Expr.Load ? new Expr.Load(run, List.of(number)) : super.expr(e);
          }
        }.expr(reduce.value());
    return Substitution.ofVars(
            Map.of(reduce.vars().getFirst(), row, reduce.reduceVars().getFirst(), column))
        .expr(value);
  }

  /**
   * Puts the sums where all threads read them; nothing if they are there.
   *
   * @param meet where the threads meet
   */
  public Stmt tell(Stmt meet) {
    if (told) {
      return Stmt.Seq.EMPTY;
    }
    told = true;
    Stmt all =
        rounds(
            (round, row) -> {
              List<Expr> at = List.of(round);
              Expr mine = new Expr.Load(own, at);
              List<Stmt> stmts = new ArrayList<>();
              for (long distance = 1; distance < parts; distance *= 2) {
                Expr other =
                    new Expr.Call(
                        Intrinsics.SHFL_XOR_F32, List.of(mine, Exprs.i32(distance)), Type.F32);
                stmts.add(new Stmt.Store(own, at, Exprs.add(mine, other)));
              }
              Expr isFirst = Exprs.eq(Exprs.mod(thread, parts), Exprs.i32(0));
              stmts.add(
                  inside(
                      row, new Stmt.If(isFirst, new Stmt.Store(sums, List.of(row), mine), null)));
              return Stmts.seq(stmts);
            });
    return Stmts.seq(all, meet);
  }
}
