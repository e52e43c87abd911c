package dev.warpwright.lower.gpu;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.type.DType;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.List;

/**
 * How the halves of a tile's steps come together that the two blocks of a cluster multiply: each
 * warpgroup's rows are completed by one of the blocks, those of even warpgroups by the first, those
 * of odd ones by the second. Sums go straight into its shared memory, which waits for nothing else:
 *
 * <pre>{@code
 * if group % 2 != rank { exchange[group / 2, r, thread] of the other block = sums[r], for each r }
 * cluster.meet
 * if group % 2 == rank { sums[r] += exchange[group / 2, r, thread], for each r; epilogue }
 * }</pre>
 *
 * <p>Producers, too, go to the barrier of the cluster.
 *
 * @param rank of the block
 * @param exchange shared {@code f32[groups, registers, threads]}
 * @param sums registers of a thread
 */
public record ClusterSums(Expr rank, Buffer exchange, Buffer sums) {
  /**
   * The exchange of a block of this rank.
   *
   * @param sums registers of a thread that hold the sums of the tile's product
   * @param groups warpgroups of a block that multiply
   * @throws LoweringException if the sums are no f32
   */
  public static ClusterSums of(Expr rank, Buffer sums, int groups) {
    if (sums.dtype() != DType.F32) {
      throw new LoweringException("two blocks share the steps of a tile, whose sums are no f32");
    }
    Buffer exchange =
        Buffer.of(
            "exchange",
            DType.F32,
            Scope.SHARED,
            Math.ceilDiv(groups, 2),
            sums.extent(0),
            WarpgroupInstruction.THREADS);
    return new ClusterSums(rank, exchange, sums);
  }

  /** What all threads do that do not multiply. */
  public static Stmt meet() {
    return Exprs.evaluate(HopperIntrinsics.CLUSTER_MEET);
  }

  /**
   * The code of a warpgroup.
   *
   * @param product what computes the sums of the block's half of the steps
   * @param epilogue what follows the sums of all steps
   */
  public Stmt around(Expr group, Expr thread, Stmt product, Stmt epilogue) {
    Expr owner = Exprs.mod(group, 2);
    Stmt send =
        each(
            r ->
                Exprs.evaluate(
                    HopperIntrinsics.CLUSTER_STORE,
                    new Expr.AddressOf(exchange, place(group, r, thread)),
                    owner,
                    new Expr.Load(sums, List.of(r))));
    Stmt add =
        each(
            r ->
                new Stmt.Store(
                    sums,
                    List.of(r),
                    Exprs.add(
                        new Expr.Load(sums, List.of(r)),
                        new Expr.Load(exchange, place(group, r, thread)))));
    return Stmts.seq(
        product,
        new Stmt.If(Exprs.fold(BinaryOp.NE, owner, rank), send, null),
        meet(),
        new Stmt.If(Exprs.eq(owner, rank), Stmts.seq(add, epilogue), null));
  }

  private interface Body {
    Stmt of(Expr r);
  }

  private Stmt each(Body body) {
    return Stmts.loop(ForKind.UNROLLED, "r", sums.extent(0), body::of);
  }

  private static List<Expr> place(Expr group, Expr r, Expr thread) {
    return List.of(Exprs.div(group, 2), r, thread);
  }
}
