package dev.warpwright.cli;

import dev.warpwright.compiler.bench.BoundKernel;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.UserError;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.Finding;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.ProgramInterpreter;
import dev.warpwright.sim.SimulationError;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * Runs programs in text in the simulator and tells what they do that they must not. A grid kernel
 * runs twice: in order, and with blocks and warps in an order that the seed decides.
 */
final class KernelSimulation {
  private final KernelRequest request;
  private final Set<Finding> findings = new LinkedHashSet<>();
  private final List<String> ran = new ArrayList<>();

  private KernelSimulation(KernelRequest request) {
    this.request = request;
  }

  static Report report(KernelRequest request, KernelFile file) {
    var simulation = new KernelSimulation(request);
    file.content().primFuncs().forEach(simulation::run);
    file.content().kernels().forEach(simulation::run);
    file.content().programs().forEach(simulation::run);
    return simulation.report(file);
  }

  private void run(PrimFunc function) {
    host(function.name(), function.params(), Interpreter.of(function, Options.CHECKED));
  }

  private void run(Kernel kernel) {
    switch (kernel.kind()) {
      case HOST -> host(kernel.name(), kernel.params(), Interpreter.of(kernel, Options.CHECKED));
      case GRID -> {
        if (kernel.attrs().getString("workload") == null) {
          grid(
              kernel.name(),
              kernel.params(),
              options -> new GridInterpreter(kernel, options)::check);
        } else {
          workload(BoundKernel.of(kernel, request.values()));
        }
      }
    }
  }

  /** A kernel that says what it computes says what its buffers hold, too. */
  private void workload(BoundKernel bound) {
    Kernel kernel = bound.kernel();
    ran.add(kernel.name());
    try {
      for (GridOptions options : List.of(GridOptions.DEFAULT, GridOptions.random(request.seed()))) {
        Arguments arguments = KernelData.random(request.seed(), kernel, bound.contents());
        findings.addAll(new GridInterpreter(kernel, options).check(arguments));
      }
    } catch (IllegalArgumentException e) {
      throw refused(kernel.name(), e);
    }
  }

  private void run(Program program) {
    grid(
        program.name(),
        ProgramInterpreter.params(program),
        options -> new ProgramInterpreter(program, options, Options.CHECKED)::check);
  }

  private void host(String name, List<? extends Param> params, Interpreter interpreter) {
    ran.add(name);
    try {
      interpreter.run(KernelData.random(request, params));
    } catch (SimulationError e) {
      findings.addAll(e.findings());
    } catch (IllegalArgumentException e) {
      throw refused(name, e);
    }
  }

  private void grid(
      String name,
      List<? extends Param> params,
      Function<GridOptions, Function<Arguments, List<Finding>>> interpreter) {
    ran.add(name);
    try {
      for (GridOptions options : List.of(GridOptions.DEFAULT, GridOptions.random(request.seed()))) {
        findings.addAll(interpreter.apply(options).apply(KernelData.random(request, params)));
      }
    } catch (IllegalArgumentException e) {
      throw refused(name, e);
    }
  }

  private static UserError refused(String name, IllegalArgumentException e) {
    return new UserError(name + " cannot be simulated: " + e.getMessage(), e);
  }

  private Report report(KernelFile file) {
    List<String> lines = new ArrayList<>();
    findings.forEach(finding -> lines.add(OneLine.of(finding.message())));
    lines.add(
        OneLine.of(
            "simulated "
                + String.join(", ", ran)
                + " with seed "
                + request.seed()
                + ": "
                + (findings.isEmpty() ? "no findings" : findings.size() + " findings")));
    return new Report(
        findings.isEmpty(),
        String.join(System.lineSeparator(), lines),
        KernelAction.json(request, file)
            .with("seed", request.seed())
            .with("findings", Json.array(findings, KernelSimulation::json)));
  }

  private static Json json(Finding finding) {
    return Json.object()
        .with("kernel", finding.kernel())
        .with("kind", finding.kind().text())
        .with("line", finding.line())
        .with("statement", finding.statement())
        .with("who", finding.who())
        .with("element", finding.element())
        .with("detail", finding.detail());
  }
}
