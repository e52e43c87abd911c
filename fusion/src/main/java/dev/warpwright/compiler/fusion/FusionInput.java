package dev.warpwright.compiler.fusion;

import dev.warpwright.model.function.FunctionOptions;
import dev.warpwright.model.function.NetworkBuilder;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.graph.Attend;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.networks.layers.FixedRows;
import dev.warpwright.networks.layers.LayerGemm;
import dev.warpwright.networks.layers.LayerParts;
import dev.warpwright.networks.rows.GpuTiling;
import dev.warpwright.networks.stages.Partition;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.networks.stages.StrategyTimes;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A network as the rules see it.
 *
 * @param network its function
 * @param fused all its stages as one group
 * @param chain the network as registers carry it: GEMMs of few inputs are formulas
 * @param chained all stages of that as one group
 * @param target to generate for
 * @param precision of its GEMMs
 * @param rows the row count to be fast for
 */
record FusionInput(
    NetworkFunction network,
    StageGroup fused,
    NetworkFunction chain,
    StageGroup chained,
    GpuTarget target,
    Precision precision,
    int rows) {
  /** Columns are padded to whole matrix instructions, or to whole vectors of the CPU. */
  static final int GRANULE = 16;

  /** What is known of a network. */
  static FusionInput of(Graph graph, GpuTarget target, Precision precision, int rows) {
    NetworkFunction network = plain(graph, precision);
    NetworkFunction chain =
        NetworkBuilder.build(
            graph,
            new FunctionOptions(
                precision, GRANULE, precision == Precision.F32, false, true, true, false));
    return new FusionInput(network, fused(network), chain, fused(chain), target, precision, rows);
  }

  /** Whether the network has attention, whose keys are far too many to be carried by a block. */
  boolean attends() {
    return !network.attentions().isEmpty();
  }

  private static StageGroup fused(NetworkFunction network) {
    return StageGroup.split(network, Partition.fused(network)).getFirst();
  }

  private static NetworkFunction plain(Graph graph, Precision precision) {
    FunctionOptions options =
        new FunctionOptions(precision, GRANULE, precision == Precision.F32, false);
    // Attention is a launch of its own, so all products are.
    boolean attends = graph.needed().stream().anyMatch(Attend.class::isInstance);
    return NetworkBuilder.build(graph, attends ? options.ofLayers() : options);
  }

  /** A group for each layer. */
  List<StageGroup> layers() {
    return StageGroup.split(network, Partition.byLayer(network));
  }

  /**
   * What is launched where each layer is a GEMM: what no epilogue has, a formula or columns that a
   * GEMM's rows do not have, is a launch of its own, which reads sums in f32.
   */
  List<StageGroup> launches() {
    NetworkFunction fixed = FixedRows.of(network, rows);
    return StageGroup.split(
        fixed,
        LayerParts.of(fixed, precision, gemm -> true).stream()
            .map(LayerParts.Part::stages)
            .toList());
  }

  /** What the families of whole networks are expected to take; empty if nothing is known. */
  Optional<StrategyTimes> times() {
    return StrategyTimes.of(network, precision, target, rows);
  }

  /** What a rule expects on the target's largest device; NaN if nothing is known. */
  double expected(FusionRule rule) {
    return times().map(times -> rule.micros(this, times)).orElse(Double.NaN);
  }

  /** The instruction that multiplies where accumulators are passed through shared memory. */
  String instruction() {
    return GpuTiling.instruction(precision, target);
  }

  /** Whether CUDA cores multiply there, as they do what tensor cores have no type for. */
  boolean multipliesByFma() {
    return instruction().equals("fma");
  }

  /** Why a kernel for CUDA cores is not for this network, where it is not. */
  String notByFma() {
    return "it multiplies on CUDA cores, and " + precision.text() + " is for tensor cores";
  }

  /** The SMs of the target's largest device. */
  int sms() {
    return DeviceCatalogue.sms(target);
  }

  /**
   * The most that each SM has to do of something.
   *
   * @param rows of a tile
   */
  long tilesOfAnSm(long rows) {
    return Math.ceilDiv(Math.ceilDiv(this.rows, rows), sms());
  }

  /** The GEMMs that the families might compute, in order. */
  List<GemmWorkload> gemms() {
    return gemms(network, precision, rows);
  }

  /** The same of a graph. */
  static List<GemmWorkload> gemms(Graph graph, Precision precision, int rows) {
    return gemms(plain(graph, precision), precision, rows);
  }

  private static List<GemmWorkload> gemms(NetworkFunction network, Precision precision, int rows) {
    return LayerParts.of(FixedRows.of(network, rows), precision, workload -> true).stream()
        .map(LayerParts.Part::product)
        .filter(Objects::nonNull)
        .map(LayerGemm::workload)
        .toList();
  }
}
