package dev.warpwright.verify.mutation;

import static dev.warpwright.sim.api.Finding.Kind.BARRIER;
import static dev.warpwright.sim.api.Finding.Kind.DEADLOCK;
import static dev.warpwright.sim.api.Finding.Kind.INTRINSIC;
import static dev.warpwright.sim.api.Finding.Kind.OUT_OF_BOUNDS;
import static dev.warpwright.sim.api.Finding.Kind.PROXY;
import static dev.warpwright.sim.api.Finding.Kind.RACE;
import static dev.warpwright.sim.api.Finding.Kind.UNINITIALISED;
import static dev.warpwright.verify.mutation.Planting.argument;
import static dev.warpwright.verify.mutation.Planting.plus;
import static dev.warpwright.verify.mutation.Planting.without;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.type.Type;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Mistakes with copies and products that work beside the threads, and with their stages. */
final class PipelineMutations {
  private static final String LOAD = "bulk.load.2d";
  private static final String LINEAR = "bulk.load.linear";

  /** Before its shape and types. */
  static final String PRODUCT = "wgmma.m";

  private PipelineMutations() {}

  static final List<Mutation> ALL =
      List.of(
          Mutation.undefined(
              "TMA copy into the next stage",
              argument(LOAD, 0, Planting::nextStage),
              RACE,
              UNINITIALISED,
              BARRIER),
          Mutation.undefined(
              "TMA copy left out",
              s -> Planting.call(s, LOAD) == null ? List.of() : List.of(Stmt.Seq.EMPTY),
              DEADLOCK,
              UNINITIALISED),
          Mutation.undefined(
              "linear TMA copy into the next stage",
              argument(LINEAR, 0, Planting::nextStage),
              RACE,
              UNINITIALISED,
              BARRIER),
          Mutation.undefined(
              "linear TMA copy left out",
              s -> Planting.call(s, LINEAR) == null ? List.of() : List.of(Stmt.Seq.EMPTY),
              DEADLOCK,
              UNINITIALISED),
          // The others wait for what does not come. The first block gets what others should have:
          // where only some blocks of a cluster share a tile, in a stage that it may be reading.
          Mutation.undefined(
              "multicast to the first block only",
              argument("bulk.load.2d.multicast", 5, e -> Exprs.i32(1)),
              DEADLOCK,
              RACE,
              INTRINSIC,
              BARRIER),
          new Mutation(
              "multicast to all blocks of a cluster",
              EnumSet.of(RACE, BARRIER, DEADLOCK, INTRINSIC),
              false,
              kernel -> multicastTo((1L << clusterSize(kernel)) - 1)),
          new Mutation(
              "multicast to a block that is not there",
              EnumSet.of(INTRINSIC),
              false,
              kernel -> multicastTo((2L << clusterSize(kernel)) - 1)),
          Mutation.undefined(
              "both halves of a multicast to one place",
              argument("bulk.load.2d.multicast", 0, PipelineMutations::rowZero),
              RACE,
              UNINITIALISED),
          Mutation.undefined(
                  "wgmma reads the next stage",
                  s ->
                      Planting.call(s, PRODUCT) == null
                          ? List.of()
                          : Planting.inExpressions(s, Planting::nextStage),
                  RACE,
                  UNINITIALISED)
              .definedAt(ResidentSlices::areReadBy),
          Mutation.wrong(
              "fragment read from the next stage",
              argument("ldmatrix", 1, Planting::nextStage),
              RACE,
              UNINITIALISED),
          Mutation.wrong(
              "asynchronous copy into the next stage",
              argument("cp.async.", 0, Planting::nextStage),
              RACE,
              UNINITIALISED),
          Mutation.undefined("register fence left out", without("wgmma.fence"), INTRINSIC),
          Mutation.undefined(
              "wgmma not committed", without("wgmma.commit"), RACE, INTRINSIC, BARRIER),
          Mutation.undefined(
              "wgmma not waited for", without("wgmma.wait"), RACE, INTRINSIC, BARRIER),
          Mutation.undefined(
              "one more wgmma group left under way",
              argument("wgmma.wait", 0, plus(1)),
              RACE,
              BARRIER,
              INTRINSIC),
          Mutation.undefined(
                  "first wgmma adds to nothing",
                  argument(PRODUCT, 3, e -> Exprs.i32(1)),
                  UNINITIALISED)
              .definedAt(ResidentSlices::shareAccumulators),
          Mutation.undefined(
              "operand in registers written again at once",
              PipelineMutations::operandWritten,
              RACE),
          Mutation.wrong(
              "wgmma of the next step's registers",
              argument("wgmma.m", 1, PipelineMutations::nextRegisters),
              UNINITIALISED,
              RACE),
          Mutation.wrong(
              "every wgmma starts anew", argument("wgmma.m", 3, e -> Exprs.i32(0)), INTRINSIC),
          Mutation.undefined(
              "asynchronous copies not waited for", without("cp.async.wait"), RACE, UNINITIALISED),
          Mutation.undefined(
              "one more group of copies left under way",
              argument("cp.async.wait", 0, plus(1)),
              RACE,
              UNINITIALISED),
          Mutation.undefined(
              "asynchronous copies not committed", without("cp.async.commit"), RACE, UNINITIALISED),
          Mutation.undefined(
              "asynchronous copy left out",
              s ->
                  Planting.call(s, "cp.async.16", "cp.async.8", "cp.async.4") == null
                      ? List.of()
                      : List.of(Stmt.Seq.EMPTY),
              UNINITIALISED),
          Mutation.wrong(
              "asynchronous copy always of all bytes",
              s ->
                  Planting.call(s, "cp.async.16") == null
                      ? List.of()
                      : argument(
                              "cp.async.16",
                              2,
                              e -> e instanceof Expr.IntImm ? null : Exprs.i32(16))
                          .apply(s),
              OUT_OF_BOUNDS),
          Mutation.wrong(
              "asynchronous copy of too few bytes",
              s ->
                  Planting.call(s, "cp.async.16") == null
                      ? List.of()
                      : argument("cp.async.16", 2, e -> Exprs.i32(8)).apply(s),
              UNINITIALISED),
          Mutation.undefined("bulk stores not committed", without("bulk.commit"), RACE, BARRIER),
          Mutation.undefined("stored slot not waited for", without("bulk.wait.read"), RACE),
          Mutation.undefined(
              "one more slot left under way", argument("bulk.wait.read", 0, plus(1)), RACE),
          // What it stores may be for other blocks, which then read it too early.
          Mutation.undefined("block ends while it stores", without("bulk.wait"), BARRIER, RACE),
          Mutation.undefined(
              "bulk store of the next slot",
              argument("bulk.store.2d", 1, Planting::nextStage),
              RACE,
              UNINITIALISED,
              PROXY),
          Mutation.wrong(
              "fragment stored into the next slot",
              argument("stmatrix", 0, Planting::nextStage),
              RACE,
              UNINITIALISED,
              PROXY));

  /** Behind a product, a write of the registers that it may still be reading. */
  private static List<Stmt> operandWritten(Stmt s) {
    Expr.Call product = Planting.call(s, "wgmma.m");
    return product != null
            && product.args().get(1) instanceof Expr.AddressOf(Buffer registers, List<Expr> indices)
            && registers.scope() == Scope.LOCAL
        ? List.of(
            Stmts.seq(
                s,
                new Stmt.Store(registers, indices, Exprs.constant(Type.of(registers.dtype()), 0))))
        : List.of();
  }

  /** The registers of the next step of K, for an address in those of all steps. */
  private static @Nullable Expr nextRegisters(Expr e) {
    if (e instanceof Expr.AddressOf(Buffer registers, List<Expr> indices)
        && registers.scope() == Scope.LOCAL
        && registers.rank() > 1) {
      List<Expr> moved = new ArrayList<>(indices);
      moved.set(0, Exprs.mod(Exprs.add(indices.getFirst(), 1), registers.extent(0)));
      return new Expr.AddressOf(registers, moved);
    }
    return null;
  }

  private static int clusterSize(Kernel kernel) {
    return (int) kernel.attrs().getLong("cluster", 1);
  }

  /** Another constant set of receivers; none where that is what the copy has. */
  private static Function<Stmt, List<Stmt>> multicastTo(long mask) {
    return argument(
        "bulk.load.2d.multicast",
        5,
        e -> e instanceof Expr.IntImm imm && imm.value() == mask ? null : Exprs.i32(mask));
  }

  /** The address in row 0 of its stage. */
  private static Expr rowZero(Expr e) {
    if (e instanceof Expr.AddressOf address && address.indices().size() > 1) {
      List<Expr> indices = new ArrayList<>(address.indices());
      indices.set(1, Exprs.i32(0));
      return new Expr.AddressOf(address.buffer(), indices);
    }
    return e;
  }
}
