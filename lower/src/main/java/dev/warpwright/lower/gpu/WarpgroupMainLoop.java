package dev.warpwright.lower.gpu;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The pipelined loop, as its two roles execute it. The producer fills one stage after the other, as
 * soon as it is empty. A consumer waits for a stage and multiplies; the products of one step are
 * still under way when it starts those of the next, and a stage is given back once the products of
 * the step behind it have been started and its own are done.
 */
final class WarpgroupMainLoop {
  private final PipelinedProgram program;
  private final WorkItems work;
  private final RingBarriers barriers;
  private final RingCursor cursor;
  private final List<BulkLoad> loads;
  private final ThreadCode code;
  private final Map<Buffer, OperandRing> rings = new HashMap<>();
  private final int consumers;

  WarpgroupMainLoop(
      PipelinedProgram program,
      WorkItems work,
      RingCursor cursor,
      List<BulkLoad> loads,
      List<StageCopy> copies,
      ThreadCode code,
      int consumers) {
    this.program = program;
    this.work = work;
    this.barriers = cursor.barriers();
    this.cursor = cursor;
    this.loads = loads;
    this.code = code;
    this.consumers = consumers;
    for (BulkLoad load : loads) {
      rings.put(load.ring().tile(), load.ring());
    }
    for (StageCopy copy : copies) {
      rings.put(copy.ring().tile(), copy.ring());
    }
  }

  /** The producer's code for one work item. */
  Stmt produce(WorkItems.Item item) {
    Var k = Var.index("k");
    Expr steps = item.steps();
    long bytes = loads.stream().mapToLong(load -> load.ring().bytes()).sum();
    Stmt body =
        cursor.step(
            item.before(),
            k,
            (parity, stage, last) -> {
              List<Stmt> stmts = new ArrayList<>();
              stmts.add(barriers.acquire(parity, stage, bytes));
              for (BulkLoad load : loads) {
                stmts.add(
                    load.issue(
                        work,
                        item,
                        program.loop().var(),
                        Exprs.add(item.first(), k),
                        stage,
                        barriers.fullAt(stage)));
              }
              return Stmts.seq(stmts);
            });
    return Stmt.For.of(ForKind.SERIAL, k, steps, body);
  }

  /**
   * A consumer warpgroup's code for one work item.
   *
   * @param group the warpgroup among the consumers
   * @param thread the thread in it
   */
  Stmt consume(WorkItems.Item item, Expr group, Expr thread) {
    Var k = Var.index("k");
    Expr steps = item.steps();
    Stmt body =
        cursor.step(
            item.before(),
            k,
            (parity, stage, last) ->
                Stmts.seq(
                    barriers.waitFull(parity, stage),
                    Exprs.evaluate(HopperIntrinsics.WGMMA_FENCE),
                    products(k, stage, group),
                    Exprs.evaluate(HopperIntrinsics.WGMMA_COMMIT),
                    // The products of the step before are done.
                    Exprs.evaluate(HopperIntrinsics.WGMMA_WAIT, Exprs.i32(1)),
                    barriers.release(last, thread, Exprs.fold(BinaryOp.GT, k, Exprs.i32(0)))));
    Expr end = Exprs.add(item.before(), steps);
    return Stmts.seq(
        fills(),
        Stmt.For.of(ForKind.SERIAL, k, steps, body),
        Exprs.evaluate(HopperIntrinsics.WGMMA_WAIT, Exprs.i32(0)),
        barriers.release(cursor.last(end), thread, Exprs.bool(true)));
  }

  /** Accumulators that start from zero are not filled: the first product does not read them. */
  private Stmt fills() {
    List<Stmt> stmts = new ArrayList<>();
    for (Buffer fragment : program.fragments()) {
      Stmt.TileFill fill = program.fill(fragment);
      if (fill != null && !startsFromZero(fragment)) {
        Buffer registers = code.registers(fragment);
        stmts.add(
            Stmts.loop(
                ForKind.UNROLLED,
                "r",
                registers.extent(0),
                r -> new Stmt.Store(registers, List.of(r), fill.value())));
      }
    }
    return Stmts.seq(stmts);
  }

  private boolean startsFromZero(Buffer fragment) {
    Stmt.TileFill fill = program.fill(fragment);
    return fill != null && Exprs.zero(fill.value().type()).equals(fill.value());
  }

  private Stmt products(Var k, Expr stage, Expr group) {
    Set<Buffer> begun = new HashSet<>();
    List<Stmt> stmts = new ArrayList<>();
    for (Stmt.TileMma mma : program.products()) {
      boolean first = begun.add(mma.c().buffer());
      stmts.add(product(mma, first, k, stage, group));
    }
    return Stmts.seq(stmts);
  }

  private Stmt product(Stmt.TileMma mma, boolean first, Var k, Expr stage, Expr group) {
    WarpgroupInstruction instruction = WarpgroupInstruction.of(mma, consumers);
    OperandRing a = operand(mma, mma.a(), instruction);
    OperandRing b = operand(mma, mma.b(), instruction);
    boolean alongM = instruction.alongM();
    boolean alongN = instruction.alongN();
    long depthOfA = a.tile().extent(alongM ? 0 : 1);
    long rowsOfA = a.tile().extent(alongM ? 1 : 0);
    long depthOfB = b.tile().extent(alongN ? 0 : 1);
    long columnsOfB = b.tile().extent(alongN ? 1 : 0);
    if (depthOfA != depthOfB
        || rowsOfA != mma.c().buffer().extent(0)
        || columnsOfB != instruction.columns()) {
      throw new LoweringException(
          "the operands of the product into " + mma.c().buffer().name() + " are not whole tiles");
    }
    boolean zero = startsFromZero(mma.c().buffer());
    Buffer acc = code.registers(mma.c().buffer());
    long depth = instruction.depth();
    return Stmts.loop(
        ForKind.UNROLLED,
        "kk",
        depthOfA / depth,
        kk ->
            Stmts.loop(
                ForKind.UNROLLED,
                "x",
                instruction.rowTiles(),
                x -> {
                  Expr row =
                      Exprs.mul(
                          Exprs.add(Exprs.mul(group, instruction.rowTiles()), x),
                          WarpgroupInstruction.ROWS);
                  Expr adds =
                      zero && first
                          ? Exprs.cast(
                              DType.I32, Exprs.fold(BinaryOp.GT, Exprs.add(k, kk), Exprs.i32(0)))
                          : Exprs.i32(1);
                  return Exprs.evaluate(
                      instruction.intrinsic(),
                      new Expr.AddressOf(
                          acc, List.of(Exprs.mul(x, instruction.elementsPerRowTile()))),
                      alongM ? across(a, stage, row, kk, depth) : at(a, stage, row, kk, depth),
                      alongN
                          ? across(b, stage, Exprs.i32(0), kk, depth)
                          : at(b, stage, Exprs.i32(0), kk, depth),
                      adds);
                }));
  }

  private static Expr at(OperandRing ring, Expr stage, Expr row, Expr kk, long depth) {
    long steps = ring.width() / depth;
    return ring.at(stage, Exprs.div(kk, steps), row, Exprs.mul(Exprs.mod(kk, steps), depth));
  }

  /** The same of an operand that is stored with its rows or columns, from {@code first} on. */
  private static Expr across(OperandRing ring, Expr stage, Expr first, Expr kk, long depth) {
    return ring.at(
        stage,
        Exprs.div(first, ring.width()),
        Exprs.mul(kk, depth),
        Exprs.mod(first, ring.width()));
  }

  private OperandRing operand(Stmt.TileMma mma, Region region, WarpgroupInstruction instruction) {
    OperandRing ring = rings.get(region.buffer());
    if (ring == null || !region.equals(Region.whole(region.buffer()))) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "operand %s of the product into %s is no tile that the pipelined loop copies",
              region.buffer().name(),
              mma.c().buffer().name()));
    }
    DType wanted = instruction.intrinsic().operands().get(1).dtype();
    boolean across = region == mma.b() ? instruction.alongN() : instruction.alongM();
    int alongK = across ? 0 : 1;
    if (ring.tile().dtype() != wanted || ring.tile().extent(alongK) % instruction.depth() != 0) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "operand %s of the product into %s is no %s tile with a depth that %d divides",
              region.buffer().name(),
              mma.c().buffer().name(),
              wanted,
              instruction.depth()));
    }
    return ring;
  }
}
