package dev.warpwright.verify;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Checks a kernel that says what it computes, for one shape: under the simulator's sanitizers, and
 * its results against the reference. A kernel with buffers that are zero before the first launch
 * only is launched twice in a row, on other data, as a runtime does.
 */
final class WorkloadCheck {
  /** Far from the seeds of the buffers of one launch. */
  private static final long NEXT_LAUNCH = 0x5851_F42D_4C95_7F2DL;

  /** As many as the SMs of a large GPU, on which all blocks of most grids start. */
  private static final int BLOCKS_AT_ONCE = 132;

  private final BoundKernel bound;
  private final ResultCheck results;
  private final List<Launch> launches = new ArrayList<>();

  /** The data of a launch, and what should become of it, which costs time. */
  private record Launch(Arguments data, Supplier<List<OutputCheck.Expected>> expected) {}

  WorkloadCheck(BoundKernel bound, long seed) {
    this.bound = bound;
    this.results = new ResultCheck(bound);
    int count = kept().isEmpty() ? 1 : 2;
    for (int i = 0; i < count; i++) {
      Arguments data = KernelData.of(bound, seed + i * NEXT_LAUNCH);
      launches.add(new Launch(data, once(() -> results.expected(data))));
    }
  }

  /** Computes at the first call, also if orders run at the same time. */
  private static Supplier<List<OutputCheck.Expected>> once(
      Supplier<List<OutputCheck.Expected>> supplier) {
    List<List<OutputCheck.Expected>> value = new ArrayList<>();
    return () -> {
      synchronized (value) {
        if (value.isEmpty()) {
          value.add(supplier.get());
        }
        return value.getFirst();
      }
    };
  }

  /** How often the kernel is launched in each order. */
  int launches() {
    return launches.size();
  }

  /** What is found in all orders, each once. */
  Set<Finding> findings(List<GridOptions> orders) {
    Set<Finding> findings = new LinkedHashSet<>();
    orders.parallelStream().map(this::findings).toList().forEach(findings::addAll);
    return findings;
  }

  private List<Finding> findings(GridOptions order) {
    GridInterpreter interpreter = new GridInterpreter(bound.kernel(), order);
    Arguments before = null;
    for (Launch launch : launches) {
      Arguments arguments = launch.data.copy();
      if (before != null) {
        for (Buffer buffer : kept()) {
          arguments.bind(buffer, before.get(buffer));
        }
      }
      List<Finding> findings = new ArrayList<>(interpreter.check(arguments));
      if (findings.isEmpty()) {
        findings.addAll(results.findings(arguments, launch.expected.get()));
        changedInputs(launch, arguments, findings);
      }
      if (!findings.isEmpty()) {
        return before == null ? findings : findings.stream().map(WorkloadCheck::second).toList();
      }
      before = arguments;
    }
    return List.of();
  }

  static Finding second(Finding finding) {
    String detail = finding.detail();
    return new Finding(
        finding.kind(),
        finding.kernel(),
        finding.line(),
        finding.statement(),
        finding.who(),
        finding.element(),
        (detail.isEmpty() ? "" : detail + "; ") + "in the second launch");
  }

  private void changedInputs(Launch launch, Arguments after, List<Finding> findings) {
    for (Map.Entry<Buffer, BoundKernel.Content> entry : bound.contents().entrySet()) {
      boolean constant =
          switch (entry.getValue()) {
            case BoundKernel.Content.Random _, BoundKernel.Content.Table _ -> true;
            case BoundKernel.Content.Poison _, BoundKernel.Content.Zero _ -> false;
          };
      Buffer buffer = entry.getKey();
      if (constant && !Arrays.equals(after.get(buffer).bytes(), launch.data.get(buffer).bytes())) {
        findings.add(
            new Finding(
                Finding.Kind.RESULT,
                bound.kernel().name(),
                0,
                "",
                "",
                buffer.name(),
                "is an input, and changed"));
      }
    }
  }

  private List<Buffer> kept() {
    return bound.contents().entrySet().stream()
        .filter(e -> e.getValue() instanceof BoundKernel.Content.Zero)
        .map(Map.Entry::getKey)
        .toList();
  }

  /**
   * A kernel's reports, one for each of its small shapes, up to the first with findings.
   *
   * @param kernel whose attributes say what it computes
   */
  static List<CheckReport> reports(Kernel kernel, CheckOptions options) {
    List<CheckReport> reports = new ArrayList<>();
    for (SmallShapes shape : SmallShapes.of(kernel, options)) {
      BoundKernel bound = BoundKernel.of(kernel, shape.scalars());
      WorkloadCheck check = new WorkloadCheck(bound, options.seed());
      List<GridOptions> used = check.orders(shape, options);
      Set<Finding> findings = check.findings(used);
      reports.add(
          new CheckReport(
              kernel.name(),
              List.of(kernel.name()),
              shape.scalars(),
              used.size(),
              check.launches(),
              bound.workload().kind(),
              List.copyOf(findings),
              Checks.expected(kernel, bound)));
      if (!findings.isEmpty()) {
        break;
      }
    }
    return reports;
  }

  /** In which orders of blocks and warps the kernel runs at a shape. */
  private List<GridOptions> orders(SmallShapes shape, CheckOptions options) {
    List<GridOptions> usual = options.orders();
    boolean atOnce = launches() > 1 && options.isUsual();
    List<GridOptions> orders =
        switch (shape.orders()) {
          case ALL -> atOnce ? SmallShapes.Orders.TWO.of(usual) : usual;
          case TWO, AT_ONCE, ONE -> shape.orders().of(usual);
        };
    return switch (shape.orders()) {
      case ALL, AT_ONCE ->
          atOnce
              ? with(orders, GridOptions.even(BLOCKS_AT_ONCE).withTarget(options.target()))
              : orders;
      case TWO, ONE -> orders;
    };
  }

  private static List<GridOptions> with(List<GridOptions> orders, GridOptions more) {
    List<GridOptions> all = new ArrayList<>(orders);
    all.add(more);
    return all;
  }

  /** The first of what {@link #reports} finds, and nothing behind it is run. */
  static Optional<Finding> first(Kernel kernel, CheckOptions options) {
    for (SmallShapes shape : SmallShapes.of(kernel, options)) {
      BoundKernel bound = BoundKernel.of(kernel, shape.scalars());
      WorkloadCheck check = new WorkloadCheck(bound, options.seed());
      for (GridOptions order : check.orders(shape, options)) {
        List<Finding> findings = check.findings(order);
        if (!findings.isEmpty()) {
          return Optional.of(findings.getFirst());
        }
      }
    }
    return Optional.empty();
  }
}
