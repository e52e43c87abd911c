package dev.warpwright.examples;

import dev.warpwright.base.UserError;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.families.wgmma.HopperGemm;
import dev.warpwright.families.wgmma.HopperLimits;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.lower.simt.SimtLowering;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A product in two grids: one sums equal parts of K into a workspace, the other adds them up, in
 * the order of the parts, and computes the epilogue. Blocks wait for nobody; what that costs is the
 * workspace, written and read once.
 *
 * @param func the product
 * @param parts the first grid, whose result is the workspace {@code C[parts, M, N]}
 * @param sum the second one
 * @param program both, with the parameters of the product and the first grid's table, if it has one
 */
public record WorkspaceGemm(PrimFunc func, ScheduledGemm parts, Kernel sum, Program program) {
  private static final int COLUMNS = 128;

  /**
   * Schedules and lowers for Hopper.
   *
   * @param parts of K; each a whole number of steps
   * @throws UserError if the configuration does not fit the parts or the hardware
   */
  public static WorkspaceGemm schedule(GemmWorkload workload, HopperConfig config, int parts) {
    if (parts < 2 || workload.batch().isMany() || config.isDivided()) {
      throw new UserError("one GEMM, and 2 parts or more, are summed through a workspace");
    }
    if (workload.k() % parts != 0 || workload.k() / parts % config.tileK() != 0) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "%d parts of K=%d are no whole steps of %d",
              parts,
              workload.k(),
              config.tileK()));
    }
    GemmWorkload part = workload.part(parts);
    String problem = HopperLimits.problem(part, config);
    if (problem != null) {
      throw new UserError(problem);
    }
    ScheduledGemm first =
        HopperGemm.schedule(workload.ofParts(parts, config.swapAb()), part, config);
    Kernel sum = sum(workload.ofPartialSums(parts));
    return new WorkspaceGemm(workload.func(), first, sum, program(first.kernel(), sum));
  }

  /** A thread for each element; neighbours read and write neighbours. */
  private static Kernel sum(PrimFunc func) {
    Schedule s = new Schedule(func);
    List<LoopRef> loops = s.loops(s.block("C"));
    Schedule.Halves columns = s.split(loops.getLast(), COLUMNS);
    s.computeAt(s.block("acc"), columns.inner());
    s.setScope(s.buffer("acc"), Scope.LOCAL);
    s.compactAll();
    s.bind(loops.getFirst(), ThreadAxis.BLOCK_Y);
    s.bind(columns.outer(), ThreadAxis.BLOCK_X);
    s.bind(columns.inner(), ThreadAxis.THREAD_X);
    return SimtLowering.lower(s.func());
  }

  private static Program program(Kernel first, Kernel second) {
    Buffer workspace = buffer(first, "C");
    List<Program.ProgramParam> params = new ArrayList<>();
    Map<Buffer, Buffer> arguments = new IdentityHashMap<>();
    for (Buffer buffer : first.buffers()) {
      arguments.put(buffer, buffer);
      if (buffer != workspace) {
        boolean table = buffer.name().equals("order");
        params.add(
            new Program.ProgramParam(table ? Program.Role.CONSTANT : Program.Role.INPUT, buffer));
      }
    }
    for (Buffer buffer : second.buffers()) {
      boolean partial = buffer.name().equals("partial");
      arguments.put(buffer, partial ? workspace : buffer);
      if (!partial) {
        boolean result = buffer.name().equals("C");
        params.add(
            new Program.ProgramParam(result ? Program.Role.OUTPUT : Program.Role.INPUT, buffer));
      }
    }
    return new Program(
        second.name(),
        params,
        List.of(workspace),
        List.of(launch(first, arguments), launch(second, arguments)));
  }

  private static Program.Launch launch(Kernel kernel, Map<Buffer, Buffer> arguments) {
    return new Program.Launch(
        kernel,
        kernel.buffers().stream()
            .map(arguments::get)
            .<Program.Argument>map(Program.BufferArgument::new)
            .toList());
  }

  private static Buffer buffer(Kernel kernel, String name) {
    return kernel.buffers().stream()
        .filter(buffer -> buffer.name().equals(name))
        .findFirst()
        .orElseThrow();
  }
}
