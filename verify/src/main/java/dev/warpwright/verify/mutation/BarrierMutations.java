package dev.warpwright.verify.mutation;

import static dev.warpwright.sim.api.Finding.Kind.BARRIER;
import static dev.warpwright.sim.api.Finding.Kind.DEADLOCK;
import static dev.warpwright.sim.api.Finding.Kind.INTRINSIC;
import static dev.warpwright.sim.api.Finding.Kind.PROXY;
import static dev.warpwright.sim.api.Finding.Kind.RACE;
import static dev.warpwright.sim.api.Finding.Kind.UNINITIALISED;
import static dev.warpwright.verify.mutation.Planting.argument;
import static dev.warpwright.verify.mutation.Planting.byOneThread;
import static dev.warpwright.verify.mutation.Planting.isCall;
import static dev.warpwright.verify.mutation.Planting.plus;
import static dev.warpwright.verify.mutation.Planting.without;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.function.Function;

/** Mistakes with barriers of all kinds, and with fences. */
final class BarrierMutations {
  private static final String WAIT = "mbarrier.wait";
  private static final String INIT = "mbarrier.init";
  private static final String EXPECT = "mbarrier.arrive.expect_tx";

  private BarrierMutations() {}

  static final List<Mutation> ALL =
      List.of(
          Mutation.undefined(
              "block barrier removed", without("sync_threads"), RACE, UNINITIALISED, BARRIER),
          new Mutation(
              "block barrier in a branch",
              EnumSet.of(BARRIER),
              false,
              byOneThread(s -> isCall(s, "sync_threads"))),
          Mutation.undefined(
              "named barrier removed",
              without("bar.sync"),
              RACE,
              UNINITIALISED,
              PROXY,
              BARRIER,
              DEADLOCK),
          Mutation.undefined(
              "named barrier for more threads than come",
              argument("bar.sync", 1, plus(128)),
              DEADLOCK,
              RACE,
              BARRIER),
          Mutation.undefined(
              "named barrier of another group",
              argument("bar.sync", 0, e -> e instanceof Expr.IntImm ? null : Exprs.i32(1)),
              RACE,
              BARRIER,
              DEADLOCK,
              PROXY,
              UNINITIALISED),
          Mutation.undefined(
              "named barrier that is not there", argument("bar.sync", 0, plus(16)), BARRIER),
          Mutation.undefined(
              "cluster barrier removed",
              s ->
                  isCall(s, "cluster.sync") || isCall(s, "cluster.sync.relaxed")
                      ? List.of(Stmt.Seq.EMPTY)
                      : List.of(),
              BARRIER,
              INTRINSIC),
          new Mutation(
              "last cluster barrier relaxed",
              EnumSet.of(BARRIER),
              false,
              BarrierMutations::relaxedParting),
          Mutation.undefined(
              "barrier object waited for no more",
              without(WAIT),
              RACE,
              UNINITIALISED,
              BARRIER,
              DEADLOCK),
          Mutation.undefined(
              "parity of a wait inverted",
              argument(WAIT, 1, e -> Exprs.sub(Exprs.i32(1), e)),
              RACE,
              UNINITIALISED,
              BARRIER,
              DEADLOCK),
          Mutation.undefined(
              "parity of a wait never changes",
              argument(WAIT, 1, e -> e instanceof Expr.IntImm ? null : Exprs.i32(0)),
              RACE,
              UNINITIALISED,
              BARRIER,
              DEADLOCK),
          Mutation.undefined(
              "ring's parity kept at its end",
              BarrierMutations::keptParity,
              RACE,
              UNINITIALISED,
              BARRIER,
              DEADLOCK),
          Mutation.undefined(
              "ring turned a stage early",
              BarrierMutations::turnedEarly,
              RACE,
              UNINITIALISED,
              BARRIER,
              DEADLOCK),
          Mutation.undefined(
              "wait for the next stage's barrier",
              argument(WAIT, 0, Planting::nextStage),
              RACE,
              UNINITIALISED,
              BARRIER,
              DEADLOCK),
          Mutation.undefined(
              "arrival left out",
              s ->
                  isCall(s, "mbarrier.arrive") || isCall(s, "mbarrier.arrive.cluster")
                      ? List.of(Stmt.Seq.EMPTY)
                      : List.of(),
              DEADLOCK),
          Mutation.undefined(
              "arrival twice",
              s ->
                  isCall(s, "mbarrier.arrive") || isCall(s, "mbarrier.arrive.cluster")
                      ? List.of(Stmts.seq(s, s))
                      : List.of(),
              BARRIER,
              RACE,
              DEADLOCK,
              UNINITIALISED),
          Mutation.undefined(
              "another stage released",
              s ->
                  isCall(s, "mbarrier.arrive") || isCall(s, "mbarrier.arrive.cluster")
                      ? argument("mbarrier.arrive", 0, Planting::nextStage).apply(s)
                      : List.of(),
              RACE,
              BARRIER,
              DEADLOCK),
          // Of a stage that is given back, or of one that threads have filled: then it is read too
          // early, and before the fence of those who fill it.
          Mutation.undefined(
              "arrival a statement too early",
              BarrierMutations::earlyArrival,
              RACE,
              BARRIER,
              UNINITIALISED,
              PROXY),
          Mutation.undefined(
              "arrival at the own block only",
              BarrierMutations::localArrival,
              RACE,
              DEADLOCK,
              BARRIER),
          Mutation.undefined(
              "barrier object for one arrival more", argument(INIT, 1, plus(1)), DEADLOCK),
          Mutation.undefined(
              "barrier object for one arrival less",
              argument(
                  INIT,
                  1,
                  e ->
                      e instanceof Expr.IntImm imm && imm.value() > 1
                          ? Exprs.i32(imm.value() - 1)
                          : null),
              BARRIER,
              RACE,
              DEADLOCK),
          Mutation.undefined("barrier object never made", without(INIT), BARRIER),
          Mutation.undefined(
              "barrier object made twice",
              s -> isCall(s, INIT) ? List.of(Stmts.seq(s, s)) : List.of(),
              BARRIER),
          Mutation.undefined(
              "more bytes expected than come", argument(EXPECT, 1, plus(16)), DEADLOCK),
          Mutation.undefined(
              "fewer bytes expected than come",
              argument(EXPECT, 1, plus(-1024)),
              BARRIER,
              RACE,
              UNINITIALISED,
              DEADLOCK),
          Mutation.undefined(
              "bytes expected at the next stage's barrier",
              argument(EXPECT, 0, Planting::nextStage),
              BARRIER,
              RACE,
              UNINITIALISED,
              DEADLOCK),
          Mutation.undefined(
              "copy signals the next stage's barrier",
              argument("bulk.load.2d", 2, Planting::nextStage),
              BARRIER,
              RACE,
              UNINITIALISED,
              DEADLOCK),
          Mutation.undefined(
              "fence of fresh barriers left out", without("fence.mbarrier_init"), BARRIER),
          Mutation.undefined("proxy fence left out", without("fence.proxy.async"), PROXY),
          Mutation.undefined(
              "proxy fence of global memory left out", without("fence.proxy.async.global"), PROXY),
          new Mutation(
              "all proxy fences of global memory left out",
              EnumSet.of(PROXY),
              false,
              BarrierMutations::withoutGlobalFences),
          new Mutation(
              "proxy fence by one thread of a warp only",
              EnumSet.of(PROXY),
              false,
              byOneThread(s -> isCall(s, "fence.proxy.async"))),
          Mutation.undefined(
              "registers not given back", without("setmaxnreg.dec"), DEADLOCK, INTRINSIC),
          Mutation.undefined(
              "more registers taken than there are",
              argument("setmaxnreg.inc", 0, plus(8)),
              DEADLOCK,
              INTRINSIC));

  /**
   * The barrier behind which blocks of a cluster part orders their last arrivals no more; where
   * there are none it need not.
   */
  private static Function<Stmt, List<Stmt>> relaxedParting(Kernel kernel) {
    List<Stmt> barriers = new ArrayList<>();
    boolean[] arrivals = {false};
    Walk.statements(
        kernel.body(),
        s -> {
          arrivals[0] |= isCall(s, "mbarrier.arrive.cluster");
          if (isCall(s, "cluster.sync")) {
            barriers.add(s);
          }
        });
    return s ->
        arrivals[0] && !barriers.isEmpty() && s == barriers.getLast()
            ? List.of(Exprs.evaluate(HopperIntrinsics.CLUSTER_SYNC_RELAXED))
            : List.of();
  }

  /** A variable in registers that is turned round where something holds. */
  private static List<Stmt> keptParity(Stmt s) {
    return s instanceof Stmt.Store(Buffer parity, var indices, Expr value)
            && parity.scope() == Scope.LOCAL
            && value instanceof Expr.Binary(BinaryOp op, Expr.Load(Buffer own, var same), Expr b)
            && op == BinaryOp.BIT_XOR
            && own == parity
            && same.equals(indices)
            && !(b instanceof Expr.IntImm)
        ? List.of(Stmt.Seq.EMPTY)
        : List.of();
  }

  /** What happens to a number in registers at a ring's last stage happens at the one before. */
  private static List<Stmt> turnedEarly(Stmt s) {
    return s instanceof Stmt.Store store
            && store.buffer().scope() == Scope.LOCAL
            && store.buffer().dtype() == DType.I32
        ? Planting.inExpressions(
            s,
            e ->
                e instanceof Expr.Binary(BinaryOp op, Var stage, Expr.IntImm(var type, long last))
                        && op == BinaryOp.EQ
                        && last > 0
                    ? new Expr.Binary(op, stage, new Expr.IntImm(type, last - 1))
                    : null)
        : List.of();
  }

  /** An arrival changes places with what comes before it. */
  private static List<Stmt> earlyArrival(Stmt s) {
    if (!(s instanceof Stmt.Seq(List<Stmt> statements))) {
      return List.of();
    }
    List<Stmt> variants = new ArrayList<>();
    for (int i = 1; i < statements.size(); i++) {
      if (isArrival(statements.get(i)) && !isArrival(statements.get(i - 1))) {
        List<Stmt> swapAb = new ArrayList<>(statements);
        Collections.swap(swapAb, i - 1, i);
        variants.add(new Stmt.Seq(swapAb));
      }
    }
    return variants;
  }

  private static boolean isArrival(Stmt s) {
    return s instanceof Stmt.If branch && branch.otherwise() == null
        ? isArrival(branch.then())
        : isCall(s, "mbarrier.arrive") || isCall(s, "mbarrier.arrive.cluster");
  }

  /** An arrival at a block of the cluster becomes one at the own block's barrier. */
  private static List<Stmt> localArrival(Stmt s) {
    if (!(s instanceof Stmt.Evaluate(Expr.Call call))
        || call.op() != HopperIntrinsics.MBARRIER_ARRIVE_CLUSTER) {
      return List.of();
    }
    return List.of(
        new Stmt.Evaluate(
            new Expr.Call(
                HopperIntrinsics.MBARRIER_ARRIVE, List.of(call.args().getFirst()), call.type())));
  }

  /** Of the fences on both sides of a counter one is enough: all are left out. */
  private static Function<Stmt, List<Stmt>> withoutGlobalFences(Kernel kernel) {
    boolean[] found = {false};
    Stmt without =
        new Rewriter() {
          @Override
          public Stmt stmt(Stmt s) {
            if (isCall(s, "fence.proxy.async.global")) {
              found[0] = true;
              return Stmt.Seq.EMPTY;
            }
            return super.stmt(s);
          }
        }.stmt(kernel.body());
    return s -> s == kernel.body() && found[0] ? List.of(without) : List.of();
  }
}
