package dev.warpwright.compiler.predict;

import dev.warpwright.compiler.fusion.AttentionCalls;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.families.tuned.GemmKernels.Expected;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.visit.LaunchOrder;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.networks.layers.LayerGemm;
import dev.warpwright.networks.layers.LayerParts;
import dev.warpwright.networks.layers.LayerParts.Part;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.perf.TileTraffic;
import dev.warpwright.perf.predict.Prediction;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * A way to compute a network whose layers are too wide for one kernel, and what the analytic model
 * expects of it: why the planner takes the one that it takes.
 *
 * @param name of the way
 * @param launches of kernels
 * @param bytes that all launches read and write, each matrix once a launch
 * @param waves how often blocks fill the SMs, of all GEMMs
 * @param micros expected for all launches
 */
public record WideStrategy(String name, int launches, long bytes, double waves, double micros) {
  private static final double LAUNCH_US = 3;

  /**
   * What a boundary between two overlapping launches costs less: measured on an H200 at 1 to 16
   * rows 2 to 2.6, at 64 rows 1.3 to 1.6.
   */
  private static final double OVERLAP_US = 2;

  private static final double OVERLAP_OF_MANY_US = 1.3;

  /** Rows from which on the second is what a boundary costs less. */
  private static final int MANY = 48;

  /**
   * The ways, the one with the most launches first, the planner's last.
   *
   * @param program of one number of rows, which has a GEMM of the families
   * @param products the families' kernels
   */
  public static List<WideStrategy> of(CompiledProgram program, GemmKernels products) {
    int rows = program.fixedRows().orElseThrow();
    Map<GemmWorkload, Optional<Expected>> expected = new HashMap<>();
    if (!program.network().attentions().isEmpty()) {
      return List.of(planned(program, products));
    }
    List<WideStrategy> ways = new ArrayList<>();
    WideStrategy apart = way("each GEMM by itself", program, products, expected, false);
    WideStrategy glued =
        way("gate and up projections in one GEMM", program, products, expected, true);
    ways.add(apart);
    if (glued.launches < apart.launches) {
      ways.add(glued);
    }
    long overlaps =
        program.kernels().stream().filter(kernel -> LaunchOrder.overlaps(kernel.kernel())).count();
    if (overlaps > 1) {
      WideStrategy last = ways.getLast();
      double saved = rows < MANY ? OVERLAP_US : OVERLAP_OF_MANY_US;
      ways.add(
          new WideStrategy(
              (last == glued ? "the same, " : "") + "launches that overlap",
              last.launches,
              last.bytes,
              last.waves,
              last.micros - saved * (overlaps - 1)));
    }
    return List.copyOf(ways);
  }

  /** What was made of a network with attention: its launches as they are. */
  private static WideStrategy planned(CompiledProgram program, GemmKernels products) {
    int rows = program.fixedRows().orElseThrow();
    DeviceModel device = Prediction.device(program.target()).orElseThrow();
    List<Expected> gemms =
        LayerParts.of(
                program.network(),
                program.precision(),
                workload -> products.expect(workload).isPresent())
            .stream()
            .map(Part::product)
            .filter(Objects::nonNull)
            .map(product -> products.expect(product.workload()).orElseThrow())
            .toList();
    double waves = gemms.stream().mapToDouble(Expected::waves).sum();
    double micros = gemms.stream().mapToDouble(Expected::micros).sum();
    long bytes = 0;
    int overlaps = 0;
    for (CompiledKernel kernel : program.kernels()) {
      bytes += TileTraffic.of(kernel.tileProgram(), Map.of()).compulsoryBytes();
      overlaps += LaunchOrder.overlaps(kernel.kernel()) ? 1 : 0;
      if (!kernel.strategy().startsWith("epilogue")
          && !kernel.strategy().startsWith(AttentionCalls.STRATEGY)) {
        micros += NetworkPrediction.of(program, kernel, rows, device).micros() + LAUNCH_US;
      }
    }
    for (NetworkFunction.Attention attention : program.network().attentions()) {
      micros +=
          AttentionCalls.expectedUs(
              program.network(), attention, rows, (GpuTarget) program.target());
    }
    double saved = rows < MANY ? OVERLAP_US : OVERLAP_OF_MANY_US;
    return new WideStrategy(
        "a GEMM a layer" + (overlaps > 1 ? ", launches that overlap" : ""),
        program.kernels().size(),
        bytes,
        waves,
        micros - saved * Math.max(0, overlaps - 1));
  }

  private static WideStrategy way(
      String name,
      CompiledProgram program,
      GemmKernels products,
      Map<GemmWorkload, Optional<Expected>> expected,
      boolean glu) {
    NetworkFunction network = program.network();
    List<Part> parts =
        LayerParts.of(
            network,
            program.precision(),
            workload ->
                (glu || !workload.epilogue().glu())
                    && expected.computeIfAbsent(workload, products::expect).isPresent());
    List<StageGroup> groups = StageGroup.split(network, parts.stream().map(Part::stages).toList());
    int launches = 0;
    long bytes = 0;
    double waves = 0;
    double micros = 0;
    for (int i = 0; i < parts.size(); i++) {
      LayerGemm product = parts.get(i).product();
      if (product != null) {
        Expected one = Objects.requireNonNull(expected.get(product.workload())).orElseThrow();
        launches++;
        bytes += bytes(product.workload());
        waves += one.waves();
        micros += one.micros();
      } else if (!isCopy(groups.get(i))) {
        launches++;
        for (Buffer buffer : groups.get(i).func().buffers()) {
          bytes += TileTraffic.bytes(buffer, Map.of());
        }
        micros += LAUNCH_US;
      }
    }
    return new WideStrategy(name, launches, bytes, waves, micros);
  }

  /** Copies of inputs, which GEMMs read where they lie. */
  private static boolean isCopy(StageGroup group) {
    return group.stages().size() == 1
        && group.stages().getFirst() instanceof NetworkFunction.Load load
        && LayerGemm.alike(load.from(), load.to());
  }

  private static long bytes(GemmWorkload w) {
    long operand = w.operands().bytes();
    long result = w.m() * w.resultColumns() * w.result().bytes();
    long extras =
        w.epilogue().operands().stream()
            .mapToLong(o -> o == Epilogue.Operand.BIAS ? 4 * w.n() : o.isMatrix() ? result : 0)
            .sum();
    return (w.m() * w.k() + w.n() * w.k()) * operand + result + extras;
  }
}
