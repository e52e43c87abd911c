package dev.warpwright.cli.program;

import dev.warpwright.base.UserError;
import dev.warpwright.base.files.FileBytes;
import dev.warpwright.cli.kernels.KernelFile;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.verify.Problem;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.lower.host.HostLowering;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.simt.SimtLowering;
import dev.warpwright.lower.tile.PassRefusal;
import dev.warpwright.schedule.Replay;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.error.ScheduleError;
import dev.warpwright.schedule.trace.Trace;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.HostTarget;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A user's own function, and what a schedule makes of it.
 *
 * @param function as the file has it: what is computed
 * @param scheduled the same function by the schedule's steps; the function itself without any
 * @param trace the steps; null for a function that was written as it is to be lowered
 */
public record OwnProgram(PrimFunc function, PrimFunc scheduled, @Nullable Trace trace) {
  private static final long LONGEST = 16 << 20;

  /**
   * Takes the function of a file and the steps of another one.
   *
   * @param schedule a trace in JSON (its name ends in .json), else steps in text; null for none
   * @throws UserError if the file holds no single function, or a step does not fit; the message
   *     names the line
   */
  public static OwnProgram of(KernelFile file, @Nullable Path schedule) {
    if (file.content().primFuncs().size() != 1) {
      throw new UserError(
          file.file()
              + ": a schedule is for a file of one primfunc, this has "
              + file.content().primFuncs().size());
    }
    PrimFunc function = file.content().primFuncs().getFirst();
    if (schedule == null) {
      return new OwnProgram(function, function, null);
    }
    Schedule done = scheduled(schedule, function);
    return new OwnProgram(function, done.func(), done.trace());
  }

  private static Schedule scheduled(Path file, PrimFunc function) {
    String name = file.getFileName() + "";
    String text = text(file);
    if (name.endsWith(".json")) {
      try {
        return Replay.schedule(Trace.parse(text), function, 0);
      } catch (ScheduleError e) {
        throw new UserError(name + ": " + e.summary(), e);
      } catch (UserError e) {
        throw new UserError(name + ": " + e.getMessage(), e);
      }
    }
    Schedule schedule = started(function);
    Replay replay = Replay.byHand(schedule, new LoopNames(schedule)::find);
    for (StepText.Line line : StepText.read(name, text)) {
      try {
        replay.step(line.step());
      } catch (ScheduleError e) {
        throw new UserError(name + ":" + line.line() + ": " + e.summary(), e);
      } catch (UserError e) {
        String what = e.getMessage() + "";
        String own = what.startsWith("trace: ") ? what.substring("trace: ".length()) : what;
        throw new UserError(name + ":" + line.line() + ": " + own, e);
      }
    }
    return schedule;
  }

  /** A schedule of the function, to which nothing was done yet. */
  static Schedule started(PrimFunc function) {
    try {
      return new Schedule(function);
    } catch (ScheduleError e) {
      throw new UserError(function.name() + " cannot be scheduled: " + e.reason(), e);
    }
  }

  private static String text(Path file) {
    var bytes = FileBytes.read(file);
    if (bytes.byteSize() > LONGEST) {
      throw new UserError(file + ": is too long for a schedule");
    }
    return new String(bytes.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
  }

  /**
   * The same for one shape, with its scalars as constants.
   *
   * @param values of all scalars by name
   */
  OwnProgram ofShape(Map<String, Long> values) {
    return new OwnProgram(
        FunctionShape.of(function, values), FunctionShape.of(scheduled, values), trace);
  }

  /** The function as a kernel of the CPU that was not lowered: to ask for its parameters. */
  Kernel unlowered() {
    return new Kernel(
        scheduled.name(),
        Kernel.Kind.HOST,
        scheduled.params(),
        List.of(),
        scheduled.body(),
        scheduled.attrs());
  }

  /** Whether a loop is bound to an index of the launch, or there are roles: it is for a GPU. */
  public boolean isForGpu() {
    boolean[] found = {false};
    Walk.statements(
        scheduled.body(),
        s ->
            found[0] |=
                s instanceof Stmt.Flow.Roles
                    || s instanceof Stmt.For loop && loop.kind() == ForKind.THREAD_BOUND);
    return found[0];
  }

  /** Whether there are statements over whole tiles. */
  private boolean hasTiles() {
    boolean[] found = {false};
    Walk.statements(
        scheduled.body(),
        s ->
            found[0] |=
                s instanceof Stmt.Flow
                    || s instanceof Stmt.TileCopy
                    || s instanceof Stmt.TileFill
                    || s instanceof Stmt.TileMma
                    || s instanceof Stmt.TileMap
                    || s instanceof Stmt.TileReduce);
    return found[0];
  }

  /**
   * The kernel: for a GPU if a loop is bound to its threads, else for the CPU.
   *
   * @param target of tile programs, which become other instructions on other GPUs
   * @throws UserError if it cannot be lowered
   */
  public Kernel kernel(GpuTarget target) {
    Kernel kernel = lowered(target);
    // What a schedule may not do is found in the kernel alone, whose lines nobody wrote.
    List<Problem> problems = Verifier.verify(kernel);
    if (!problems.isEmpty()) {
      throw new UserError(
          function.name() + " as it is scheduled: " + problems.getFirst().message());
    }
    return kernel;
  }

  private Kernel lowered(GpuTarget target) {
    try {
      if (!isForGpu()) {
        return HostLowering.lower(scheduled, HostTarget.current(), Set.of()).kernel();
      }
      return hasTiles() ? Lowering.lower(scheduled, target) : SimtLowering.lower(scheduled);
    } catch (LoweringException | PassRefusal e) {
      throw new UserError(
          function.name() + " cannot become a kernel as it is scheduled: " + e.getMessage(), e);
    }
  }

  /**
   * The kernel, for a GPU.
   *
   * @param file for messages
   * @throws UserError if no loop is bound to a GPU's threads, or it cannot be lowered
   */
  public Kernel gridKernel(Path file, GpuTarget target) {
    if (!isForGpu()) {
      throw new UserError(
          file
              + ": no loop of "
              + function.name()
              + " is bound to blockIdx and threadIdx; bind some in a file of steps, --schedule");
    }
    return kernel(target);
  }
}
