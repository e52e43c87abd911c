package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/**
 * Turns a tile program with one pipelined loop for each tile into a kernel of {@code mma.sync}, for
 * Turing and newer. All threads of a block copy and multiply. The steps, in order:
 *
 * <ol>
 *   <li>{@link PipelinedProgram}: which loop is the pipeline, what comes before and behind it.
 *   <li>{@link WorkItems}: which tile a block computes.
 *   <li>{@link StageCopy}: copies become asynchronous, or go through registers; the layout of their
 *       targets is a ring of swizzled tiles ({@link OperandRing}), free of bank conflicts.
 *   <li>{@link FragmentInference}: which thread holds which sums; then {@link MmaOperands}, two
 *       sets of operands for each warp.
 *   <li>The loop itself: copies run {@code stages - 1} steps ahead; operands are read one
 *       instruction's depth ahead, also across the barrier at which the next stage is complete. One
 *       barrier a step suffices, because behind it nobody reads the stage that the next copies
 *       fill.
 *   <li>{@link TileEpilogue}: results leave from registers.
 * </ol>
 *
 * <p>Function attributes: {@code threads}; {@code minBlocks}; {@code async = 0} for targets without
 * asynchronous copies.
 */
final class MmaPipelineLowering {
  private final PipelinedProgram program;
  private final long stages;
  private final Var tid = Var.index("tid");
  private final List<StageCopy> copies;
  private final FragmentLayout layout;
  private final MmaOperands operands;
  private final ThreadCode code;
  private final Buffer sums;

  private MmaPipelineLowering(PrimFunc func, PipelinedProgram program) {
    this.program = program;
    this.stages = program.loop().attrs().getLong("stages", 2);
    if (stages < 2) {
      throw new LoweringException(
          "pipelined loop "
              + program.loop().var()
              + " has "
              + stages
              + " stages, takes 2 at least");
    }
    int threads = Math.toIntExact(func.attrs().getLong("threads", 128));
    boolean async = func.attrs().getLong("async", 1) != 0;
    if (program.products().size() != 1) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "pipelined loop %s has %d products by mma.sync; one is possible",
              program.loop().var(),
              program.products().size()));
    }
    this.copies =
        program.loads().stream()
            .map(
                load ->
                    StageCopy.of(
                        load,
                        MmaOperands.isGathered(program.products().getFirst(), load.to().buffer())
                            ? OperandRing.gathered(load.to().buffer(), stages)
                            : OperandRing.of(load.to().buffer(), stages),
                        threads,
                        async))
            .toList();
    Map<Buffer, FragmentLayout> layouts = FragmentInference.infer(func.body(), threads);
    this.code = new ThreadCode(tid, threads, layouts);
    Stmt.TileMma mma = program.products().getFirst();
    this.layout = code.layout(mma.c().buffer());
    if (layout.threads() != threads) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "the product into %s is spread over %d of %d threads",
              mma.c().buffer().name(),
              layout.threads(),
              threads));
    }
    this.operands = MmaOperands.of(mma, layout, ring(mma, mma.a()), ring(mma, mma.b()));
    this.sums = code.registers(mma.c().buffer());
  }

  /**
   * Lowers.
   *
   * @throws LoweringException if the program asks for what this lowering cannot do
   */
  static Kernel lower(PrimFunc func, PassListener listener) {
    PipelinedProgram program = PipelinedProgram.of(func);
    WorkItems work = WorkItems.of(func, program);
    if (work.clusterSize() > 1) {
      throw new LoweringException("clusters need products of warpgroups");
    }
    MmaPipelineLowering lowering = new MmaPipelineLowering(func, program);
    TileEpilogue epilogue = new TileEpilogue(program, lowering.code);
    List<Buffer> shared =
        new ArrayList<>(lowering.copies.stream().map(copy -> copy.ring().ring()).toList());
    List<Param> params = new ArrayList<>(work.params(func));
    List<Buffer> registers = new ArrayList<>();
    PartialSums parts = work.division() == null ? null : lowering.parts(work);
    if (parts != null) {
      shared.add(parts.turn());
      params.addAll(parts.params());
      registers.addAll(parts.registers());
    }
    Stmt body =
        work.each(
            item -> {
              Stmt product = lowering.loop(item);
              Stmt end = epilogue.code(item);
              return Stmts.seq(
                  parts == null
                      ? Stmts.seq(product, end)
                      : parts.around(item.part(), Exprs.i32(0), lowering.tid, product, end),
                  // Operands read ahead must be gone before the next item's copies arrive.
                  work.repeats() ? Exprs.evaluate(Intrinsics.SYNC_THREADS) : Stmt.Seq.EMPTY);
            });
    program.fragments().forEach(f -> registers.add(lowering.code.registers(f)));
    registers.add(lowering.operands.aRegisters());
    registers.add(lowering.operands.bRegisters());
    lowering.copies.stream()
        .map(StageCopy::registers)
        .forEach(
            r -> {
              if (r != null) {
                registers.add(r);
              }
            });
    List<ThreadBinding> bindings = new ArrayList<>(work.bindings());
    bindings.add(
        new ThreadBinding(ThreadAxis.THREAD_X, lowering.tid, Exprs.i32(lowering.code.threads())));
    Attrs attrs = work.attrs(func.attrs(), program).with("fast", 1);
    Kernel kernel =
        new Kernel(
            func.name(),
            Kernel.Kind.GRID,
            params,
            bindings,
            Stmts.alloc(shared, Stmts.alloc(registers, body)),
            attrs);
    listener.tell("MmaPipelineLowering", kernel);
    return listener.tell("Simplify", Simplify.kernel(kernel));
  }

  /** All threads of a block combine its tile together. */
  private PartialSums parts(WorkItems work) {
    return PartialSums.of(
        work, program, sums, 1, code.threads(), group -> Exprs.evaluate(Intrinsics.SYNC_THREADS));
  }

  private OperandRing ring(Stmt.TileMma mma, Region region) {
    for (StageCopy copy : copies) {
      if (copy.ring().tile() == region.buffer() && region.equals(Region.whole(region.buffer()))) {
        return copy.ring();
      }
    }
    throw new LoweringException(
        String.format(
            Locale.ROOT,
            "operand %s of the product into %s is no tile that the pipelined loop copies",
            region.buffer().name(),
            mma.c().buffer().name()));
  }

  private boolean anyAsynchronous() {
    return copies.stream().anyMatch(StageCopy::isAsynchronous);
  }

  private Stmt loop(WorkItems.Item item) {
    Expr steps = item.steps();
    Var lane = Var.index("lane");
    Var row = Var.index("warp_m");
    Var column = Var.index("warp_n");
    Function<Expr, Expr> stageOf = step -> Exprs.mod(step, stages);
    long ahead = stages - 1;
    Stmt prologue =
        Stmts.loop(
            ForKind.UNROLLED,
            "p",
            ahead,
            p ->
                Stmts.seq(
                    Stmts.when(Exprs.lt(p, steps), Stmts.seq(begin(item, p, p), end(p))),
                    commit()));
    Var step = Var.index("step");
    Expr next = Exprs.add(step, ahead);
    Var filled = Var.index("filled");
    Expr more = Exprs.lt(next, steps);
    long depth = operands.depth();
    Stmt body =
        Stmts.seq(
            Stmts.when(more, new Stmt.Let(filled, stageOf.apply(next), begin(item, next, filled))),
            commit(),
            Stmts.loop(
                ForKind.UNROLLED,
                "kk",
                depth,
                kk -> {
                  Expr last = Exprs.eq(kk, Exprs.i32(depth - 1));
                  Expr following = Exprs.min(Exprs.add(step, 1), Exprs.sub(steps, Exprs.i32(1)));
                  Var from = Var.index("from");
                  Stmt read =
                      new Stmt.Let(
                          from,
                          stageOf.apply(new Expr.Select(last, following, step)),
                          operands.load(
                              from, Exprs.mod(Exprs.add(kk, 1), depth), row, column, lane));
                  return Stmts.seq(
                      new Stmt.If(
                          last,
                          Stmts.seq(
                              hasEnd()
                                  ? Stmts.when(more, end(stageOf.apply(next)))
                                  : Stmt.Seq.EMPTY,
                              arrived()),
                          null),
                      // Behind the last stage there is none: what is read then is not used.
                      read,
                      operands.multiply(sums, kk));
                }));
    Stmt all =
        Stmts.seq(
            fill(),
            prologue,
            arrived(),
            operands.load(Exprs.i32(0), Exprs.i32(0), row, column, lane),
            Stmt.For.of(ForKind.SERIAL, step, steps, body),
            anyAsynchronous()
                ? Exprs.evaluate(Intrinsics.CP_ASYNC_WAIT, Exprs.i32(0))
                : Stmt.Seq.EMPTY);
    return new Stmt.Let(
        lane,
        Exprs.mod(tid, 32),
        new Stmt.Let(
            row,
            operands.warpRow(layout, tid),
            new Stmt.Let(column, operands.warpColumn(layout, tid), all)));
  }

  private Stmt fill() {
    Stmt.TileFill fill = program.fill(program.products().getFirst().c().buffer());
    if (fill == null) {
      throw new LoweringException("sums are not filled before the pipelined loop");
    }
    return Stmts.loop(
        ForKind.UNROLLED, "r", sums.extent(0), r -> new Stmt.Store(sums, List.of(r), fill.value()));
  }

  private Stmt begin(WorkItems.Item item, Expr step, Expr stage) {
    return Stmts.seq(
        copies.stream()
            .map(
                copy ->
                    copy.begin(
                        item, tid, program.loop().var(), Exprs.add(item.first(), step), stage))
            .toList());
  }

  private boolean hasEnd() {
    return copies.stream().anyMatch(copy -> !copy.isAsynchronous());
  }

  private Stmt end(Expr stage) {
    return Stmts.seq(copies.stream().map(copy -> copy.end(tid, stage)).toList());
  }

  private Stmt commit() {
    return anyAsynchronous() ? Exprs.evaluate(Intrinsics.CP_ASYNC_COMMIT) : Stmt.Seq.EMPTY;
  }

  /** The stage of the next step is complete, and nobody reads the one before. */
  private Stmt arrived() {
    Stmt sync = Exprs.evaluate(Intrinsics.SYNC_THREADS);
    return anyAsynchronous()
        ? Stmts.seq(Exprs.evaluate(Intrinsics.CP_ASYNC_WAIT, Exprs.i32(stages - 2)), sync)
        : sync;
  }
}
