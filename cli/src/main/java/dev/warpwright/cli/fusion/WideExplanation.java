package dev.warpwright.cli.fusion;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.fusion.NetworkCandidates.Made;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.cli.output.Figure;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Report;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.predict.WideStrategy;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.ResourceUsage;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.visit.LaunchOrder;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.measure.network.NetworkResult;
import dev.warpwright.measure.orders.OneKernel;
import dev.warpwright.perf.TileTraffic;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import dev.warpwright.verify.NetworkBounds;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A network that is too wide for one kernel: what was weighed, and what its kernels ask of the
 * device.
 *
 * @param ways that were weighed, the chosen one last; empty where no family computes its products
 * @param alone both GEMMs of a feed-forward block as one kernel; empty where there is none
 * @param measured the program and what stands beside it; empty where nothing was measured
 */
record WideExplanation(
    NetworkTask task,
    String device,
    NetworkBounds bounds,
    List<WideStrategy> ways,
    List<OneKernel> alone,
    List<Row> rows,
    List<NetworkResult> measured) {
  /** Registers that a kernel is thought to have where no compiler says. */
  private static final int UNKNOWN_REGISTERS = 128;

  /**
   * A kernel.
   *
   * @param bytes from and to memory
   * @param waves how often its blocks fill the SMs
   * @param registers of a thread; null where there is no compiler
   * @param spills bytes; null where there is no compiler
   */
  record Row(
      String name,
      String strategy,
      double bytes,
      long blocks,
      int threads,
      double waves,
      @Nullable Integer registers,
      int sharedBytes,
      @Nullable Integer spills,
      boolean overlaps) {
    static Row of(CompiledKernel compiled, Map<Var, Long> scalars, DeviceModel device) {
      Kernel kernel = compiled.kernel();
      GpuTarget target = device.target();
      @Nullable ResourceUsage usage = usage(kernel, target);
      int shared = KernelResources.of(kernel).sharedBytes();
      int threads = kernel.threadsPerBlock();
      long blocks = 1;
      for (ThreadAxis axis : List.of(ThreadAxis.BLOCK_X, ThreadAxis.BLOCK_Y, ThreadAxis.BLOCK_Z)) {
        blocks *= ScalarEval.eval(kernel.extent(axis), scalars);
      }
      int resident =
          Math.max(
              1,
              target.blocksPerSm(
                  threads, usage == null ? UNKNOWN_REGISTERS : usage.registers(), shared));
      return new Row(
          kernel.name(),
          compiled.strategy(),
          TileTraffic.of(compiled.tileProgram(), scalars).compulsoryBytes(),
          blocks,
          threads,
          (double) blocks / ((long) resident * device.sms()),
          usage == null ? null : usage.registers(),
          shared,
          usage == null ? null : usage.spillStores() + usage.spillLoads(),
          LaunchOrder.overlaps(kernel));
    }

    private static @Nullable ResourceUsage usage(Kernel kernel, GpuTarget target) {
      if (CudaCompilers.system().isEmpty()) {
        return null;
      }
      try {
        Cubin cubin = CudaCompilers.compile(CudaPrinter.print(kernel, target), target);
        return cubin.usage(CudaPrinter.functionName(kernel)).orElse(null);
      } catch (DeviceError e) {
        return null;
      }
    }
  }

  /**
   * Of a program.
   *
   * @param products the families' kernels, which {@code made} consists of; null for none
   * @param measured the program and what stands beside it; empty where nothing was measured
   */
  static WideExplanation of(
      NetworkTask task,
      Made made,
      @Nullable GemmKernels products,
      DeviceModel device,
      String name,
      List<NetworkResult> measured) {
    Map<Var, Long> scalars = Map.of(made.compiled().network().rows().var(), (long) task.rows());
    return new WideExplanation(
        task,
        name,
        NetworkBounds.of(task.graph(), task.precision(), task.rows(), device),
        products == null || made.compiled().fixedRows().isEmpty()
            ? List.of()
            : WideStrategy.of(made.compiled(), products),
        alone(task, device),
        made.compiled().kernels().stream().map(kernel -> Row.of(kernel, scalars, device)).toList(),
        measured);
  }

  /** A feed-forward block as one kernel, by the waiting that is asked for, or by rows. */
  static List<OneKernel> alone(NetworkTask task, DeviceModel device) {
    return OneKernel.of(
        NetworkCompiler.products(task.graph(), task.precision(), task.rows()),
        task.merging() == null ? WaitPolicy.ROW : task.merging().waits(),
        device);
  }

  Report report() {
    return new Report(measured.isEmpty() || measured.getFirst().verified(), text(), json());
  }

  private String text() {
    List<String> lines = new ArrayList<>();
    lines.add(
        task.text()
            + " on "
            + device
            + (measured.isEmpty() ? ": times are predicted, nothing was measured" : ""));
    for (NetworkResult result : measured) {
      lines.add(
          "  "
              + result.name()
              + ": "
              + (result.times() == null
                  ? result.failure() == null ? "not timed" : result.failure().message()
                  : Figure.number(result.times().micros()) + " us in bursts"));
    }
    for (WideStrategy way : ways) {
      lines.add(
          String.format(
              Locale.ROOT,
              "  %-10s %s: %d launches, %.1f MB, %.2f waves, %.1f us expected",
              way == ways.getLast() && task.merging() == null ? "chosen:" : "instead of",
              way.name(),
              way.launches(),
              way.bytes() / 1e6,
              way.waves(),
              way.micros()));
    }
    double apart = ways.isEmpty() ? Double.NaN : ways.getLast().micros();
    alone.forEach(one -> lines.add("  beside " + one.text(apart)));
    int width = rows.stream().mapToInt(row -> row.name().length()).max().orElse(1);
    String name = "%-" + width + "s";
    lines.add(
        String.format(
            Locale.ROOT,
            name + " %9s %7s %7s %6s %5s %7s %6s  %s",
            "",
            "memory MB",
            "blocks",
            "threads",
            "waves",
            "regs",
            "shared",
            "spills",
            "strategy"));
    for (Row row : rows) {
      lines.add(
          String.format(
              Locale.ROOT,
              name + " %9.1f %7d %7d %6.2f %5s %7d %6s  %s",
              row.name(),
              row.bytes() / 1e6,
              row.blocks(),
              row.threads(),
              row.waves(),
              row.registers() == null ? "-" : row.registers().toString(),
              row.sharedBytes(),
              row.spills() == null ? "-" : row.spills().toString(),
              row.strategy()));
    }
    lines.add(bounds.text());
    return String.join(System.lineSeparator(), lines.stream().map(OneLine::of).toList());
  }

  private Json json() {
    Json.Members json =
        Json.object()
            .with("workload", task.text())
            .with("key", task.key().text())
            .with("device", device)
            .with("measured", !measured.isEmpty())
            .with("boundUs", bounds.micros())
            .with("boundBy", bounds.isKnown() ? bounds.by() : "unknown")
            .with(
                "ways",
                Json.array(
                    ways,
                    way ->
                        Json.object()
                            .with("name", way.name())
                            .with("launches", way.launches())
                            .with("bytes", way.bytes())
                            .with("waves", way.waves())
                            .with("expectedUs", way.micros())))
            .with("persistent", Json.array(alone, OneKernel::json))
            .with("kernels", Json.array(rows, WideExplanation::json));
    return measured.isEmpty()
        ? json
        : json.with(
            "times",
            Json.array(
                measured,
                result ->
                    Json.object()
                        .with("name", result.name())
                        .with("verified", result.verified())
                        .with(
                            "timeUs",
                            result.times() == null ? Double.NaN : result.times().micros())));
  }

  private static Json json(Row row) {
    Json.Members json =
        Json.object()
            .with("name", row.name())
            .with("strategy", row.strategy())
            .with("bytes", row.bytes())
            .with("blocks", row.blocks())
            .with("threads", row.threads())
            .with("waves", row.waves())
            .with("sharedBytes", row.sharedBytes())
            .with("overlaps", row.overlaps());
    if (row.registers() != null) {
      json = json.with("registers", (int) row.registers());
    }
    return row.spills() == null ? json : json.with("spills", (int) row.spills());
  }
}
