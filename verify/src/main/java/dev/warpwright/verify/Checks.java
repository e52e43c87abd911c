package dev.warpwright.verify;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.execute.SimulatedExecutable;
import dev.warpwright.compiler.predict.NetworkPrediction;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Program;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.parallel.program.ParallelProgram;
import dev.warpwright.perf.predict.Prediction;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.ProgramInterpreter;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.kernel.BoundKernel;
import dev.warpwright.workload.kernel.KernelSpecialization;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Runs what it is given in the simulator, in several orders of blocks and warps, and tells what it
 * does that it must not.
 *
 * <pre>{@code
 * for (CheckReport report : Checks.check(new CheckSubject.OfKernel(kernel), CheckOptions.of(1))) {
 *   assert report.clean() : report.findings();
 * }
 * }</pre>
 */
public final class Checks {

  private static final int ROWS = 37;

  /** More than a network has inputs, each of which takes a seed of its own. */
  private static final long NEXT_LAUNCH = 0x9E37_79B9L;

  private Checks() {}

  /**
   * Checks.
   *
   * @return one report, or for a kernel that says what it computes one for each of several small
   *     shapes, unless the options give all scalars; up to the first with findings
   * @throws UserError if the subject cannot be simulated with these options; the message says why
   */
  public static List<CheckReport> check(CheckSubject subject, CheckOptions options) {
    if (subject instanceof CheckSubject.OfKernel(Kernel kernel)
        && kernel.kind() == Kernel.Kind.GRID
        && kernel.attrs().getString("workload") != null) {
      try {
        return WorkloadCheck.reports(kernel, options);
      } catch (IllegalArgumentException e) {
        throw refused(kernel.name(), e);
      }
    }
    return List.of(checkOnce(subject, options));
  }

  private static CheckReport checkOnce(CheckSubject subject, CheckOptions options) {
    return switch (subject) {
      case CheckSubject.OfFunction(var function) -> {
        Map<String, Long> scalars = scalars(function.params(), options);
        yield host(
            function.name(),
            Interpreter.of(function, Options.CHECKED),
            () -> KernelData.random(function.params(), scalars, options.seed()),
            scalars);
      }
      case CheckSubject.OfKernel(Kernel kernel) -> check(kernel, options);
      case CheckSubject.OfProgram ofProgram -> check(ofProgram, options);
      case CheckSubject.OfAttention ofAttention -> check(ofAttention, options);
      case CheckSubject.OfNetwork ofNetwork -> check(ofNetwork, options);
      case CheckSubject.OfParallel(ParallelProgram parallel) ->
          ParallelCheck.check(parallel, options);
    };
  }

  /**
   * The grid kernels of a subject, ready for mistakes to be planted into them.
   *
   * @throws UserError if it has none
   */
  public static List<MutationSubject> mutationSubjects(CheckSubject subject, CheckOptions options) {
    return switch (subject) {
      case CheckSubject.OfKernel(Kernel kernel) when kernel.kind() == Kernel.Kind.GRID -> {
        if (kernel.attrs().getString("workload") != null) {
          List<Map<String, Long>> shapes = new ArrayList<>();
          shapes.add(SmallShapes.usual(kernel, options).scalars());
          for (SmallShapes shape : SmallShapes.of(kernel, options)) {
            if (!shapes.contains(shape.scalars())) {
              shapes.add(shape.scalars());
            }
          }
          yield List.of(MutationSubject.of(kernel.name(), kernel, shapes, options.seed()));
        }
        Kernel shaped = KernelSpecialization.specialize(kernel, scalars(kernel.params(), options));
        yield List.of(
            MutationSubject.of(
                kernel.name(),
                shaped,
                data -> KernelData.random(shaped, Map.of(), options.seed() + data)));
      }
      case CheckSubject.OfNetwork(CompiledProgram network, _) ->
          MutationSubject.of(
              network.program().name(), network, rows(network, options), options.seed());
      case CheckSubject.OfProgram ofProgram -> {
        Map<String, Long> scalars =
            scalars(ProgramInterpreter.params(ofProgram.program()), options);
        yield MutationSubject.of(
            ofProgram.program(), data -> ofProgram.data(scalars, options.seed() + data));
      }
      case CheckSubject.OfAttention ofAttention ->
          MutationSubject.of(
              ofAttention.program(), data -> ofAttention.data(options.seed() + data));
      case CheckSubject.OfKernel _, CheckSubject.OfFunction _, CheckSubject.OfParallel _ ->
          throw new UserError(
              subject.name() + ": there are mutants of grid kernels, programs and networks");
    };
  }

  private static CheckReport check(Kernel kernel, CheckOptions options) {
    if (kernel.kind() == Kernel.Kind.HOST) {
      Map<String, Long> scalars = scalars(kernel.params(), options);
      return host(
          kernel.name(),
          Interpreter.of(kernel, Options.CHECKED),
          () -> KernelData.random(kernel, scalars, options.seed()),
          scalars);
    }
    PreparedKernel prepared = PreparedKernel.of(kernel, options);
    return grid(
        kernel.name(),
        List.of(kernel.name()),
        prepared.scalars(),
        options,
        order -> new GridInterpreter(prepared.kernel(), order)::check,
        prepared.arguments(),
        CheckReport.OnDevice.NONE);
  }

  private static CheckReport check(CheckSubject.OfProgram subject, CheckOptions options) {
    Program program = subject.program();
    Map<String, Long> scalars = scalars(ProgramInterpreter.params(program), options);
    ProgramCheck check =
        new ProgramCheck(
            program,
            launch -> subject.data(scalars, options.seed() + NEXT_LAUNCH * launch),
            References.of(subject));
    return report(program, check, options.orders(), scalars, CheckReport.OnDevice.NONE);
  }

  private static CheckReport check(CheckSubject.OfAttention subject, CheckOptions options) {
    if (!options.scalars().isEmpty() || options.rows().isPresent()) {
      throw new UserError(subject.name() + ": attention has its own shape; give no scalars");
    }
    ProgramCheck check =
        new ProgramCheck(
            subject.program(),
            launch -> subject.data(options.seed() + NEXT_LAUNCH * launch),
            References.of(subject));
    GpuTarget target = subject.target();
    return report(
        subject.program(),
        check,
        options.orders().stream().map(order -> order.withTarget(target)).toList(),
        Map.of(),
        CheckReport.OnDevice.NONE);
  }

  private static CheckReport check(CheckSubject.OfNetwork subject, CheckOptions options) {
    if (!options.scalars().isEmpty()) {
      throw new UserError(
          options.scalars().keySet() + ": a network's only scalar is its rows; give --batch");
    }
    CompiledProgram network = subject.network();
    GpuTarget target = (GpuTarget) network.target();
    int rows = rows(network, options);
    ProgramCheck check =
        new ProgramCheck(
            network.program(),
            launch -> arguments(network, rows, options.seed() + NEXT_LAUNCH * launch),
            References.of(subject, rows));
    return report(
        network.program(),
        check,
        options.orders().stream().map(order -> order.withTarget(target)).toList(),
        Map.of("rows", (long) rows),
        expected(target, gpu -> NetworkPrediction.of(network, rows, gpu)));
  }

  private static CheckReport report(
      Program program,
      ProgramCheck check,
      List<GridOptions> orders,
      Map<String, Long> scalars,
      CheckReport.OnDevice expected) {
    Set<Finding> findings;
    try {
      findings = check.findings(orders);
    } catch (IllegalArgumentException e) {
      throw refused(program.name(), e);
    }
    return new CheckReport(
        program.name(),
        names(program),
        scalars,
        orders.size(),
        check.launches(),
        check.comparedWith(),
        List.copyOf(findings),
        expected);
  }

  /** What is expected of a kernel that says what it computes, for one shape. */
  static CheckReport.OnDevice expected(Kernel kernel, BoundKernel bound) {
    String arch = kernel.attrs().getString("arch");
    GpuTarget target =
        arch == null ? GpuTarget.SM_90A : GpuTarget.find(arch).orElse(GpuTarget.SM_90A);
    return expected(target, gpu -> Prediction.of(bound, gpu));
  }

  private static CheckReport.OnDevice expected(
      GpuTarget target, Function<DeviceModel, Prediction> prediction) {
    return Prediction.device(target)
        .map(gpu -> new CheckReport.OnDevice(gpu.name(), prediction.apply(gpu)))
        .orElse(CheckReport.OnDevice.NONE);
  }

  /** Rows of a network: those that it was compiled for, if it is for no others. */
  static int rows(CompiledProgram network, CheckOptions options) {
    return network.fixedRows().orElse(options.rows().orElse(ROWS));
  }

  /** A network's weights, random inputs, and poisoned outputs. */
  public static Arguments arguments(CompiledProgram network, int rows, long seed) {
    Arguments arguments = SimulatedExecutable.constants(network);
    arguments.bind(network.network().rows().var(), rows);
    long next = seed;
    for (Buffer input : network.network().inputs()) {
      arguments.bind(input, NdArray.zeros(input.dtype(), rows, input.extent(1)).fillRandom(next++));
    }
    for (Buffer output : network.network().outputs()) {
      arguments.bind(output, NdArray.zeros(output.dtype(), rows, output.extent(1)).poison());
    }
    return arguments;
  }

  private static List<String> names(Program program) {
    return program.kernels().stream().map(Kernel::name).toList();
  }

  private static Map<String, Long> scalars(List<? extends Param> params, CheckOptions options) {
    return KernelData.scalars(params, options.scalars(), options.rows());
  }

  private static CheckReport host(
      String name,
      Interpreter interpreter,
      Supplier<Arguments> arguments,
      Map<String, Long> scalars) {
    List<Finding> findings = List.of();
    try {
      interpreter.run(arguments.get());
    } catch (SimulationError e) {
      findings = e.findings();
    } catch (IllegalArgumentException e) {
      throw refused(name, e);
    }
    return new CheckReport(
        name, List.of(name), scalars, 1, 1, "", findings, CheckReport.OnDevice.NONE);
  }

  private static CheckReport grid(
      String name,
      List<String> kernels,
      Map<String, Long> scalars,
      CheckOptions options,
      Function<GridOptions, Function<Arguments, List<Finding>>> interpreter,
      Supplier<Arguments> arguments,
      CheckReport.OnDevice expected) {
    Set<Finding> findings = new LinkedHashSet<>();
    try {
      for (GridOptions order : options.orders()) {
        findings.addAll(interpreter.apply(order).apply(arguments.get()));
      }
    } catch (IllegalArgumentException e) {
      throw refused(name, e);
    }
    return new CheckReport(
        name, kernels, scalars, options.schedules(), 1, "", List.copyOf(findings), expected);
  }

  private static UserError refused(String name, IllegalArgumentException e) {
    return new UserError(name + " cannot be simulated: " + e.getMessage(), e);
  }
}
