package dev.warpwright.lower.flow;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The part of {@code LowerTiles} that lets the blocks of a cluster fill each other's stages.
 *
 * <pre>{@code
 * bulk.load.2d(&Bs[s, 0, 0], &B[n, k], &full[s], 256, 64) [multicast = "m"]
 * one thread: mbarrier.arrive(&empty[s])              // empty: shared.cluster, for 2 arrivals
 * →
 * bulk.load.2d.multicast(&Bs[s, rank * 128, 0], &B[n + rank * 128, k], &full[s], 128, 64, 3)
 * thread < 2: mbarrier.arrive.cluster(&empty[s], thread)                      // for 4 arrivals
 * }</pre>
 *
 * <p>Each block copies an equal part of the rows into all that share it, and a stage is empty when
 * the consumers of all blocks of the cluster have given it back. Arrivals at other blocks publish
 * no ordinary accesses: release at cluster scope would cost a full memory barrier each time.
 */
final class ClusterBlocks {
  private final long size;
  private final long clusterM;
  private final long clusterN;
  private final boolean paired;
  private final Map<Buffer, Buffer> own = new IdentityHashMap<>();
  private @Nullable Var rank;

  ClusterBlocks(PrimFunc func) {
    this.size = func.attrs().getLong("cluster", 1);
    this.clusterM = func.attrs().getLong("clusterM", 1);
    this.clusterN = func.attrs().getLong("clusterN", 1);
    this.paired = func.attrs().getLong("clusterK", 1) > 1;
  }

  /** Why blocks do not share the copy of a tile of so many rows; null if they can. */
  static @Nullable String refusal(Buffer tile, long width, long blocks) {
    long rows = tile.extent(0);
    long part = rows / blocks * width * tile.dtype().bytes();
    return rows % blocks == 0 && part % 128 == 0 ? null : "its parts are no multiples of 128 bytes";
  }

  boolean isOne() {
    return size == 1;
  }

  /** Whether the blocks of a cluster meet behind their products, not at the end. */
  boolean isPaired() {
    return paired;
  }

  long size() {
    return size;
  }

  /** The block's rank in its cluster; null if nobody asked for it. */
  @Nullable Var rank() {
    return rank;
  }

  /** Which block of the cluster it is, where the program binds the remainder of its number. */
  Stmt.Let let(Stmt.Let l, Var block) {
    if (isOne() || !l.value().equals(Exprs.mod(block, size))) {
      return l;
    }
    rank = l.var();
    return new Stmt.Let(
        l.var(), new Expr.Call(HopperIntrinsics.CLUSTER_RANK, List.of(), Type.I32), l.body());
  }

  /** All threads of the block, or of the cluster, have come here. */
  Stmt together() {
    return Exprs.evaluate(
        isOne() ? Intrinsics.SYNC_THREADS : HopperIntrinsics.CLUSTER_SYNC_RELAXED);
  }

  /**
   * Behind it blocks of a cluster may leave. None may while another one still arrives at its
   * barriers, and nobody waits for the last arrivals: this barrier orders them, too. (Without that
   * a block of a cluster of four was gone when it was arrived at, a fault of the launch.)
   */
  static Stmt parting() {
    return Exprs.evaluate(HopperIntrinsics.CLUSTER_SYNC);
  }

  /** What one thread of a warpgroup does: it arrives at all blocks if they share the barrier. */
  Stmt.@Nullable If arrival(Stmt s, Expr thread) {
    return s instanceof Stmt.Evaluate(Expr.Call call)
            && call.op() == HopperIntrinsics.MBARRIER_ARRIVE
            && isShared(call.args().getFirst())
        ? new Stmt.If(
            Exprs.lt(thread, Exprs.i32(size)),
            Exprs.evaluate(
                HopperIntrinsics.MBARRIER_ARRIVE_CLUSTER, call.args().getFirst(), thread),
            null)
        : null;
  }

  private static boolean isShared(Expr address) {
    return address instanceof Expr.AddressOf(Buffer buffer, List<Expr> _)
        && buffer.scope() == Scope.SHARED_CLUSTER;
  }

  /** The whole block's code. */
  Stmt shared(Stmt s) {
    return new Rewriter() {
      private @Nullable String along;

      @Override
      public Stmt stmt(Stmt inner) {
        if (inner instanceof Stmt.For f && f.attrs().has("multicast")) {
          along = f.attrs().getString("multicast");
          Stmt loads = stmt(f.body());
          along = null;
          return loads;
        }
        if (inner instanceof Stmt.Evaluate(Expr.Call call) && !call.args().isEmpty()) {
          boolean load =
              call.op() == HopperIntrinsics.BULK_LOAD || call.op() == HopperIntrinsics.BULK_LOAD_3D;
          return along != null && load
              ? part(call, along.equals("m"))
              : isShared(call.args().getFirst()) ? barrier(call) : super.stmt(inner);
        }
        return super.stmt(inner);
      }

      @Override
      protected Buffer buffer(Buffer buffer) {
        return own(buffer);
      }
    }.stmt(s);
  }

  /** The block's own of what all blocks of the cluster see. */
  Buffer own(Buffer buffer) {
    return buffer.scope() == Scope.SHARED_CLUSTER
        ? own.computeIfAbsent(buffer, b -> b.withScope(Scope.SHARED))
        : buffer;
  }

  private Stmt barrier(Expr.Call call) {
    Expr.AddressOf at = (Expr.AddressOf) call.args().getFirst();
    List<Expr> args = new ArrayList<>(call.args());
    args.set(0, new Expr.AddressOf(own(at.buffer()), at.indices()));
    if (call.op() == HopperIntrinsics.MBARRIER_INIT
        && args.get(1) instanceof Expr.IntImm arrivals) {
      args.set(1, Exprs.i32(arrivals.value() * size));
    } else if (call.op() == HopperIntrinsics.MBARRIER_ARRIVE) {
      throw new LoweringException(
          "a stage that a cluster shares is given back by one thread alone");
    }
    return new Stmt.Evaluate(new Expr.Call(call.op(), args, call.type()));
  }

  /** The block's part of a copy, into all blocks that share it. */
  private Stmt part(Expr.Call load, boolean down) {
    Var own = rank;
    if (own == null) {
      throw new LoweringException("a copy for a cluster stands outside of clusters");
    }
    Expr m = clusterN == 1 ? own : Exprs.div(own, clusterN);
    Expr n = clusterM == 1 ? own : Exprs.mod(own, clusterN);
    List<Expr> args = load.args();
    long rows = ((Expr.IntImm) args.get(3)).value() / (down ? clusterM : clusterN);
    Expr first = Exprs.mul(down ? m : n, rows);
    return Exprs.evaluate(
        load.op() == HopperIntrinsics.BULK_LOAD_3D
            ? HopperIntrinsics.BULK_LOAD_3D_MULTICAST
            : HopperIntrinsics.BULK_LOAD_MULTICAST,
        below(args.get(0), first),
        below(args.get(1), first),
        args.get(2),
        Exprs.i32(rows),
        args.get(4),
        down ? maskM(n) : maskN(m));
  }

  /** The ranks that differ in their row of tiles alone. */
  private Expr maskM(Expr n) {
    long column = 0;
    for (long m = 0; m < clusterM; m++) {
      column |= 1L << m * clusterN;
    }
    return clusterN == 1 ? Exprs.i32(column) : Exprs.fold(BinaryOp.SHL, Exprs.i32(column), n);
  }

  /** The ranks that differ in their column of tiles alone. */
  private Expr maskN(Expr m) {
    Expr row = Exprs.i32((1L << clusterN) - 1);
    return clusterM == 1 ? row : Exprs.fold(BinaryOp.SHL, row, Exprs.mul(m, clusterN));
  }

  /** So many rows further down. */
  private static Expr below(Expr address, Expr rows) {
    Expr.AddressOf at = (Expr.AddressOf) address;
    List<Expr> indices = new ArrayList<>(at.indices());
    int row = indices.size() - 2;
    indices.set(row, Exprs.add(indices.get(row), rows));
    return new Expr.AddressOf(at.buffer(), indices);
  }
}
