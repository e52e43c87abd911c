package dev.warpwright.cli.run;

import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.devices.Devices;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.output.Waiting;
import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.Device;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.fusion.FusionTimes;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.fusion.Verdict;
import dev.warpwright.compiler.predict.UnfusedTraffic;
import dev.warpwright.compiler.predict.WideStrategy;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.measure.orders.OneKernel;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.parallel.cost.ParallelPlan;
import dev.warpwright.parallel.cost.ParallelRequest;
import dev.warpwright.perf.TileTraffic;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Tells which stages share a kernel, what that saves, and why. */
public final class PlanAction implements Action<ModelRequest> {
  private static final int DEFAULT_ROWS = 4096;

  /** Several models know GEMMs that are launched apart, each for another question. */
  private static final String TIMES =
      "times, all expected, of three models: of a strategy ('because' and 'strategy') from bytes,"
          + " operations and 3 us a launch, before there are kernels; of launches ('chosen' and"
          + " 'instead of') by the families' model of each GEMM's kernel; of one kernel with an"
          + " order by playing its tiles in time; compare those of one model, or measure: perf";

  @Override
  public Report perform(ModelRequest request, Progress progress) {
    Model model = Models.load(request);
    NonFinite.tell(request.file().toString(), model.graph(), progress);
    Precision precision =
        request.precision() == null ? model.graph().precision() : request.precision();
    int rows = request.batch().orElse(DEFAULT_ROWS);
    if (request.gpus() instanceof ParallelRequest gpus) {
      try (Device device = Devices.open(request.target(), false, progress)) {
        ParallelPlan plan = gpus.plan(model.graph(), device, precision, rows);
        if (request.emit() != null) {
          ParallelRun.emit(request.emit(), plan.program(), progress);
        }
        return ParallelPlanReport.of(request, device, precision, rows, plan);
      }
    }
    try (Device device = Devices.open(request.target(), false, progress);
        CompiledModel compiled = model.compile(device, precision, 0);
        Waiting waiting = new Waiting(progress, "choosing kernels")) {
      CompiledProgram program = compiled.program(rows);
      waiting.step("predicting the other ways");
      ProgramText.write(request.emit(), compiled, rows, progress);
      Optional<FusionTimes> expected = Optional.empty();
      Map<String, Verdict> judged = Map.of();
      List<OneKernel> alone = List.of();
      if (device.target() instanceof GpuTarget gpu) {
        expected = NetworkCompiler.expected(model.graph(), gpu, precision, rows);
        judged = NetworkCompiler.judged(model.graph(), gpu, precision, rows);
        List<GemmWorkload> gemms = NetworkCompiler.products(model.graph(), precision, rows);
        alone =
            DeviceCatalogue.largest(gpu)
                .map(known -> OneKernel.of(gemms, WaitPolicy.ROW, known))
                .orElse(List.of());
      }
      return report(request, device, program, rows, expected, judged, alone);
    }
  }

  private static Report report(
      ModelRequest request,
      Device device,
      CompiledProgram program,
      int rows,
      Optional<FusionTimes> expected,
      Map<String, Verdict> judged,
      List<OneKernel> alone) {
    Map<Var, Long> scalars = Map.of(program.network().rows().var(), (long) rows);
    long unfused = UnfusedTraffic.bytes(program.network(), scalars);
    UnfusedTraffic.ByLayer layers = UnfusedTraffic.byLayer(program.network(), scalars);
    int stages = program.network().stages().size();
    long fused = 0;
    List<Json> kernels = new ArrayList<>();
    StringBuilder lines = new StringBuilder();
    Set<String> copies = copies(program.network());
    List<String> common = common(program.kernels());
    for (CompiledKernel kernel : program.kernels()) {
      TileTraffic traffic = TileTraffic.of(kernel.tileProgram(), scalars);
      fused += traffic.compulsoryBytes();
      long blocks = blocks(kernel, scalars, traffic);
      int shared =
          device.target() instanceof GpuTarget
              ? KernelResources.of(kernel.kernel()).sharedBytes()
              : 0;
      kernels.add(
          Json.object()
              .with("name", kernel.kernel().name())
              .with("strategy", kernel.strategy())
              .with("why", kernel.why())
              .with("ops", Json.array(kernel.stages(), Json::of))
              .with("blocks", blocks)
              .with("sharedBytes", shared)
              .with("bytes", traffic.compulsoryBytes())
              .with("tileBytes", traffic.tileBytes())
              .with("multiplyAdds", traffic.multiplyAdds()));
      List<String> own = reasons(kernel).stream().filter(r -> !common.contains(r)).toList();
      lines.append(
          String.format(
              Locale.ROOT,
              "%n  %s: %s%s%n    stages  %s%n    %d block%s, %s%s from and to memory, %s read and"
                  + " written by all blocks, %.1f M multiply-adds",
              kernel.kernel().name(),
              kernel.strategy(),
              own.isEmpty() ? "" : System.lineSeparator() + "    " + String.join("; ", own),
              kernel.stages().stream()
                  .filter(stage -> !copies.contains(stage))
                  .collect(Collectors.joining(", ")),
              blocks,
              blocks == 1 ? "" : "s",
              shared == 0 ? "" : size(shared) + " of shared memory each, ",
              size(traffic.compulsoryBytes()),
              size(traffic.tileBytes()),
              traffic.multiplyAdds() / 1e6));
    }
    List<WideStrategy> ways = strategies(device, program);
    for (WideStrategy way : ways) {
      lines.append(
          String.format(
              Locale.ROOT,
              "%n  %s %s: %d launches, %s, %.2f waves of blocks, %.1f us expected",
              way == ways.getLast() ? "chosen:" : "instead of",
              way.name(),
              way.launches(),
              size(way.bytes()),
              way.waves(),
              way.micros()));
    }
    if (!ways.isEmpty()) {
      double apart = ways.getLast().micros();
      alone.forEach(
          one -> lines.append(String.format(Locale.ROOT, "%n  instead of %s", one.text(apart))));
    }
    if (ways.isEmpty()) {
      expected.ifPresent(times -> lines.append(String.format(Locale.ROOT, "%n  %s", times.text())));
    }
    judged.forEach((name, verdict) -> lines.append(strategy(name, verdict)));
    if (!ways.isEmpty()) {
      lines.append(String.format(Locale.ROOT, "%n  %s", TIMES));
    }
    List<Json> alternatives = new ArrayList<>();
    alternatives.add(alternative("a kernel for each layer", layers.kernels(), layers.bytes()));
    alternatives.add(alternative("a kernel for each stage", stages, unfused));
    for (WideStrategy way : ways) {
      alternatives.add(
          Json.object()
              .with("strategy", way.name())
              .with("kernels", way.launches())
              .with("bytes", way.bytes())
              .with("waves", way.waves())
              .with("expectedUs", way.micros())
              .with("chosen", way == ways.getLast()));
    }
    String head =
        String.format(
            Locale.ROOT,
            "%s for %s in %s, %d rows: %d kernel%s, %s from and to memory%n  instead of %s by a"
                + " kernel for each layer (%d), %s by one for each stage and copy (%d)%s",
            OneLine.of(request.title()),
            device.target().name(),
            program.precision().text(),
            rows,
            program.kernels().size(),
            program.kernels().size() == 1 ? "" : "s",
            size(fused),
            size(layers.bytes()),
            layers.kernels(),
            size(unfused),
            stages,
            common.isEmpty()
                ? ""
                : System.lineSeparator() + "  because " + String.join("; ", common));
    Json json =
        Json.object()
            .with("model", request.file().toString())
            .with("target", device.target().name())
            .with("precision", program.precision().text())
            .with("rows", rows)
            .with("bytes", fused)
            .with("bytesUnfused", unfused)
            .with("bytesSaved", unfused - fused)
            .with("oneKernelUs", expected.map(FusionTimes::oneKernel).orElse(Double.NaN))
            .with("gemmPerLayerUs", expected.map(FusionTimes::layers).orElse(Double.NaN))
            .with("persistent", Json.array(alone, OneKernel::json))
            .with("strategies", Json.array(judged.entrySet(), PlanAction::json))
            .with("alternatives", new Json.Array(alternatives))
            .with("kernels", new Json.Array(kernels));
    return new Report(true, head + lines, json);
  }

  /** Stages that copy an input or a result: no formula of the model. */
  private static Set<String> copies(NetworkFunction network) {
    return network.stages().stream()
        .filter(s -> s instanceof NetworkFunction.Load || s instanceof NetworkFunction.Store)
        .map(NetworkFunction.Stage::block)
        .collect(Collectors.toSet());
  }

  /** What is said of every kernel, which the report says once. */
  private static List<String> common(List<CompiledKernel> kernels) {
    List<String> common = new ArrayList<>(reasons(kernels.getFirst()));
    kernels.forEach(kernel -> common.retainAll(reasons(kernel)));
    return common;
  }

  private static List<String> reasons(CompiledKernel kernel) {
    return List.of(kernel.why().split("; "));
  }

  /** What a rule of the planner says, a line each. */
  private static String strategy(String name, Verdict verdict) {
    return String.format(
        Locale.ROOT,
        "%n  strategy %s: %s",
        name,
        switch (verdict) {
          case Verdict.Fires(double micros, double _) ->
              Double.isNaN(micros)
                  ? "fits, nothing is known of the device"
                  : String.format(Locale.ROOT, "%.1f us expected", micros);
          case Verdict.LastResort(String reason) -> "the last resort, for " + reason;
          case Verdict.DoesNotFire(String reason) -> "does not fit, for " + reason;
        });
  }

  private static Json json(Map.Entry<String, Verdict> judged) {
    Json.Members json =
        Json.object()
            .with("strategy", judged.getKey())
            .with("fits", !(judged.getValue() instanceof Verdict.DoesNotFire));
    return switch (judged.getValue()) {
      case Verdict.Fires(double micros, double _) -> json.with("expectedUs", micros);
      case Verdict.LastResort(String reason) -> json.with("why", reason);
      case Verdict.DoesNotFire(String reason) -> json.with("why", reason);
    };
  }

  /** Of the launch: where work is given to as many blocks as fit, the tile program has but one. */
  private static long blocks(CompiledKernel kernel, Map<Var, Long> scalars, TileTraffic traffic) {
    if (kernel.kernel().kind() == Kernel.Kind.HOST) {
      return traffic.blocks();
    }
    return Stream.of(ThreadAxis.BLOCK_X, ThreadAxis.BLOCK_Y, ThreadAxis.BLOCK_Z)
        .mapToLong(axis -> ScalarEval.eval(kernel.kernel().extent(axis), scalars))
        .reduce(1, Math::multiplyExact);
  }

  /** What was weighed where GEMMs of the families compute the network, the chosen one last. */
  private static List<WideStrategy> strategies(Device device, CompiledProgram program) {
    if (program.fixedRows().isEmpty()) {
      return List.of();
    }
    try (GemmKernels products = device.products()) {
      return products == null ? List.of() : WideStrategy.of(program, products);
    }
  }

  private static Json alternative(String strategy, int kernels, long bytes) {
    return Json.object().with("strategy", strategy).with("kernels", kernels).with("bytes", bytes);
  }

  private static String size(long bytes) {
    if (bytes < 10_000) {
      return bytes + " B";
    }
    return bytes < 10_000_000
        ? String.format(Locale.ROOT, "%.1f kB", bytes / 1e3)
        : String.format(Locale.ROOT, "%.1f MB", bytes / 1e6);
  }
}
