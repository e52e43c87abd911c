package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Turns a tile program whose products name instructions of warpgroups into a kernel for sm_90a. The
 * steps, in order, each in the class of its name:
 *
 * <ol>
 *   <li>{@link PipelinedProgram}: which loop is the pipeline, what comes before and behind it.
 *   <li>{@link WorkItems}: which tile a block computes when. Before copies are selected, because it
 *       decides what blocks of a cluster have in common.
 *   <li>{@link BulkLoad}: copies become bulk copies or are refused; the layout of their targets
 *       follows ({@link OperandRing}), once for each stage. Copies of matrices whose rows are no
 *       multiples of 16 bytes are left to the threads of the producer ({@link CopyingProducer}).
 *   <li>{@link RingBarriers}: how many arrivals make a stage full or empty. Behind the selection,
 *       because multicast lets other blocks release a stage. {@link RingCursor} tells a role at
 *       which stage it is.
 *   <li>{@link FragmentInference}: which consumer thread holds which element.
 *   <li>{@link WarpgroupMainLoop}, {@link TileEpilogue}: the code of each role; {@link PartialSums}
 *       or {@link ClusterSums} between the two where tiles are divided. With {@code store =
 *       "direct"} results leave from registers.
 *   <li>{@link WarpRoles}: the branch of a block into its roles, last, around all of it.
 * </ol>
 */
final class WarpgroupLowering {
  private WarpgroupLowering() {}

  /**
   * Lowers.
   *
   * @throws LoweringException if the program asks for what this lowering cannot do
   */
  static Kernel lower(PrimFunc func, PassListener listener) {
    PipelinedProgram program = PipelinedProgram.of(func);
    WorkItems work = WorkItems.of(func, program);
    long stages = program.loop().attrs().getLong("stages", 2);
    if (stages < 2) {
      throw new LoweringException(
          "pipelined loop "
              + program.loop().var()
              + " has "
              + stages
              + " stages, takes 2 at least");
    }
    List<Stmt.TileCopy> unaligned =
        program.loads().stream()
            .filter(load -> BulkLoad.isUnaligned(load.from().buffer()))
            .toList();
    List<BulkLoad> loads =
        program.loads().stream()
            .filter(load -> !unaligned.contains(load))
            .map(load -> BulkLoad.of(load, stages, work))
            .toList();
    int consumers = WarpRoles.consumers(func.attrs());
    int consumerThreads = consumers * WarpgroupInstruction.THREADS;
    Map<Buffer, FragmentLayout> layouts = FragmentInference.infer(func.body(), consumerThreads);
    int accumulators = 0;
    for (Buffer fragment : program.fragments()) {
      FragmentLayout layout = layouts.get(fragment);
      boolean sums = program.products().stream().anyMatch(m -> m.c().buffer() == fragment);
      accumulators += sums && layout != null ? layout.registers() : 0;
    }
    WarpRoles roles = WarpRoles.of(func.attrs(), accumulators, !unaligned.isEmpty());
    List<StageCopy> copies =
        unaligned.stream()
            .map(load -> StageCopy.of(load, stages, roles.producers(), true).inGroups())
            .toList();
    boolean multicast = loads.stream().anyMatch(BulkLoad::multicast);
    RingBarriers barriers =
        RingBarriers.of(
            stages, roles.consumers(), multicast ? work.clusterSize() : 1, roles.producers());

    Var tid = Var.index("tid");
    List<Buffer> shared = new ArrayList<>();
    loads.forEach(load -> shared.add(load.ring().ring()));
    copies.forEach(copy -> shared.add(copy.ring().ring()));
    List<Param> params = new ArrayList<>(work.params(func));
    boolean direct = "direct".equals(func.attrs().getString("store"));
    Body body =
        new Body(program, work, roles, barriers, loads, copies, layouts, shared, params, direct);
    Stmt producer =
        copies.isEmpty()
            ? body.producer()
            : new CopyingProducer(program, work, barriers, loads, copies, roles.producer(tid))
                .code();
    Stmt produced = work.isPaired() ? ClusterSums.meet() : Stmt.Seq.EMPTY;
    Stmt branch = roles.branch(tid, producer, produced, thread -> body.consumer(thread));
    shared.add(barriers.full());
    shared.add(barriers.empty());
    boolean cluster = work.clusterSize() > 1;
    Stmt together =
        Exprs.evaluate(cluster ? HopperIntrinsics.CLUSTER_SYNC_RELAXED : Intrinsics.SYNC_THREADS);
    // No block of a cluster may leave while another still writes to its memory or its barriers.
    Stmt all =
        Stmts.seq(
            new Stmt.If(Exprs.eq(tid, Exprs.i32(0)), barriers.init(), null),
            together,
            branch,
            cluster && !work.isPaired()
                ? Exprs.evaluate(HopperIntrinsics.CLUSTER_SYNC_RELAXED)
                : Stmt.Seq.EMPTY);
    List<ThreadBinding> bindings = new ArrayList<>(work.bindings());
    bindings.add(new ThreadBinding(ThreadAxis.THREAD_X, tid, Exprs.i32(roles.threads())));
    Attrs attrs =
        work.attrs(func.attrs(), program)
            .with("arch", "sm_90a")
            .with("fast", 1)
            .with("minBlocks", roles.minBlocks());
    Kernel kernel =
        new Kernel(
            func.name(),
            Kernel.Kind.GRID,
            params,
            bindings,
            Stmts.alloc(shared, work.around(all)),
            attrs);
    listener.tell("WarpgroupLowering", kernel);
    return listener.tell("Simplify", Simplify.kernel(kernel));
  }

  /** The code of the roles; each has variables of its own. */
  private static final class Body {
    private final PipelinedProgram program;
    private final WorkItems work;
    private final WarpRoles roles;
    private final RingBarriers barriers;
    private final List<BulkLoad> loads;
    private final List<StageCopy> copies;
    private final Map<Buffer, FragmentLayout> layouts;
    private final List<Buffer> shared;
    private final List<Param> params;
    private final boolean direct;

    Body(
        PipelinedProgram program,
        WorkItems work,
        WarpRoles roles,
        RingBarriers barriers,
        List<BulkLoad> loads,
        List<StageCopy> copies,
        Map<Buffer, FragmentLayout> layouts,
        List<Buffer> shared,
        List<Param> params,
        boolean direct) {
      this.program = program;
      this.work = work;
      this.roles = roles;
      this.barriers = barriers;
      this.loads = loads;
      this.copies = copies;
      this.layouts = layouts;
      this.shared = shared;
      this.params = params;
      this.direct = direct;
    }

    /** Each warpgroup combines its rows by itself. */
    private PartialSums parts(ThreadCode code) {
      return PartialSums.of(
          work,
          program,
          code.registers(program.products().getFirst().c().buffer()),
          roles.consumers(),
          WarpgroupInstruction.THREADS,
          StagedStore::barrier);
    }

    private ClusterSums halves(ThreadCode code) {
      Buffer sums = code.registers(program.products().getFirst().c().buffer());
      return ClusterSums.of(work, program, sums, roles.consumers());
    }

    private RingCursor cursor() {
      boolean wraps =
          work.repeats()
              || !(program.steps() instanceof Expr.IntImm steps)
              || steps.value() > barriers.stages();
      return RingCursor.of(barriers, wraps);
    }

    Stmt producer() {
      ThreadCode none = new ThreadCode(Var.index("none"), 0, layouts);
      RingCursor cursor = cursor();
      WarpgroupMainLoop loop =
          new WarpgroupMainLoop(program, work, cursor, loads, copies, none, roles.consumers());
      return cursor.around(work.each(loop::produce));
    }

    Stmt consumer(Var thread) {
      ThreadCode code =
          new ThreadCode(thread, roles.consumers() * WarpgroupInstruction.THREADS, layouts);
      RingCursor cursor = cursor();
      WarpgroupMainLoop loop =
          new WarpgroupMainLoop(program, work, cursor, loads, copies, code, roles.consumers());
      TileEpilogue epilogue =
          new TileEpilogue(program, code, direct ? 0 : roles.consumers(), work.isExact());
      shared.addAll(epilogue.sharedBuffers());
      Var group = Var.index("group");
      Var inGroup = Var.index("thread");
      Expr groupValue = roles.group(thread);
      List<Buffer> registers =
          new ArrayList<>(program.fragments().stream().map(code::registers).toList());
      PartialSums parts = work.division() == null ? null : parts(code);
      ClusterSums halves = work.isPaired() ? halves(code) : null;
      if (halves != null) {
        shared.add(halves.exchange());
      }
      if (parts != null) {
        shared.add(parts.turn());
        params.addAll(parts.params());
        registers.addAll(parts.registers());
      }
      Stmt items =
          work.each(
              item -> {
                Stmt product = loop.consume(item, group, inGroup);
                Stmt end = epilogue.code(item, thread, group, inGroup);
                if (halves != null) {
                  return halves.around(group, inGroup, product, end);
                }
                WorkItems.Part part = item.part();
                return parts == null || part == null
                    ? Stmts.seq(product, end)
                    : parts.around(work.ofBlock(part), group, inGroup, product, end);
              });
      return new Stmt.Let(
          group,
          groupValue,
          new Stmt.Let(
              inGroup,
              roles.inGroup(thread),
              Stmts.alloc(registers, Stmts.seq(cursor.around(items), epilogue.finish(inGroup)))));
    }
  }
}
