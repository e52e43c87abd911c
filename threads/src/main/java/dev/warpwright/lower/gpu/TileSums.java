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

  private TileSums(Stmt.TileReduce reduce, int threads, Expr thread) {
    Buffer tile = load(reduce).buffer();
    long columns = Guards.extent(new Range(Exprs.i32(0), reduce.reduceExtents().getFirst()));
    this.sums = reduce.to();
    this.lanes = BYTES / tile.dtype().bytes();
    this.parts = columns / lanes;
    this.threads = threads;
    this.thread = thread;
    if (reduce.op() != ReduceOp.SUM
        || !reduce.indices().equals(List.copyOf(reduce.vars()))
        || columns % lanes != 0
        || WARP % parts != 0) {
      throw new LoweringException(
          "the sums " + sums.name() + " are not over rows that threads of a warp share");
    }
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
    TileSums[] found = new TileSums[1];
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.TileReduce reduce && reduce.to() == sums) {
            found[0] = new TileSums(reduce, threads, thread);
          }
        });
    return found[0];
  }

  /** The element that is read of the tile whose rows are added up. */
  private static Expr.Load load(Stmt.TileReduce reduce) {
    Expr.Load[] load = new Expr.Load[1];
    Walk.expressions(
        reduce.value(),
        e -> {
          if (e instanceof Expr.Load found) {
            List<Expr> at = found.indices();
            int rank = at.size();
            if (load[0] != null && !load[0].equals(found)
                || rank < 2
                || !at.subList(rank - 2, rank)
                    .equals(List.of(reduce.vars().getFirst(), reduce.reduceVars().getFirst()))) {
              throw new LoweringException(
                  "the sums " + reduce.to().name() + " are not of one tile's rows");
            }
            load[0] = found;
          }
        });
    return load[0];
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

  private Expr row(Expr round) {
    return Exprs.add(Exprs.div(thread, parts), Exprs.mul(round, threads / parts));
  }

  /** Where a thread's row is one of the tile's. */
  private Stmt inside(Expr row, Stmt s) {
    return sums.extent(0) * parts % threads == 0
        ? s
        : new Stmt.If(Exprs.lt(row, Exprs.i32(sums.extent(0))), s, null);
  }

  /** Adds a tile's rows up. */
  public Stmt add(Stmt.TileReduce reduce) {
    Expr.Load load = load(reduce);
    Var column = reduce.reduceVars().getFirst();
    Expr first = Exprs.mul(Exprs.mod(thread, parts), lanes);
    Buffer run = Buffer.of("run", load.buffer().dtype(), Scope.LOCAL, lanes);
    return Stmts.loop(
        ForKind.UNROLLED,
        "round",
        own.extent(0),
        round -> {
          Substitution at =
              Substitution.ofVars(Map.of(reduce.vars().getFirst(), row(round), column, first));
          List<Expr> from = load.indices().stream().map(at::expr).toList();
          List<Expr> to = List.of(round);
          Stmt sum =
              Stmts.loop(
                  ForKind.UNROLLED,
                  "v",
                  lanes,
                  v -> {
                    Expr element = new Expr.Load(run, List.of(v));
                    Expr value =
                        new Rewriter() {
                          @Override
                          public Expr expr(Expr e) {
                            return e.equals(load) ? element : super.expr(e);
                          }
                        }.expr(reduce.value());
                    Substitution here =
                        Substitution.ofVars(
                            Map.of(
                                reduce.vars().getFirst(), row(round), column, Exprs.add(first, v)));
                    return new Stmt.Store(
                        own, to, Exprs.add(new Expr.Load(own, to), here.expr(value)));
                  });
          Stmt read = ThreadCode.move(run, List.of(Exprs.i32(0)), load.buffer(), from, lanes);
          return inside(row(round), new Stmt.Alloc(run, Stmts.seq(read, sum)));
        });
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
        Stmts.loop(
            ForKind.UNROLLED,
            "round",
            own.extent(0),
            round -> {
              List<Expr> at = List.of(round);
              Expr mine = new Expr.Load(own, at);
              List<Stmt> stmts = new ArrayList<>();
              for (long distance = 1; distance < parts; distance *= 2) {
                List<Expr> other = List.of(mine, Exprs.i32(distance));
                stmts.add(
                    new Stmt.Store(
                        own,
                        at,
                        Exprs.add(mine, new Expr.Call(Intrinsics.SHFL_XOR_F32, other, Type.F32))));
              }
              Stmt store = new Stmt.Store(sums, List.of(row(round)), mine);
              Expr isFirst = Exprs.eq(Exprs.mod(thread, parts), Exprs.i32(0));
              stmts.add(inside(row(round), new Stmt.If(isFirst, store, null)));
              return Stmts.seq(stmts);
            });
    return Stmts.seq(all, meet);
  }
}
