package dev.warpwright.compiler.fusion;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.lower.host.HostLowering;
import dev.warpwright.lower.host.HostProgram;
import dev.warpwright.model.function.Constant;
import dev.warpwright.model.function.FunctionOptions;
import dev.warpwright.model.function.NetworkBuilder;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.networks.Scheduled;
import dev.warpwright.networks.rows.HostTiling;
import dev.warpwright.networks.rows.RowBlockSchedule;
import dev.warpwright.networks.stages.Partition;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.target.HostTarget;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.Locale;

/** A network as one kernel of the CPU, which needs no choice between strategies. */
final class HostNetwork {
  private static final int MOST_RESULTS = 256;

  private HostNetwork() {}

  /**
   * Compiles.
   *
   * @throws UserError if it has too many outputs
   */
  static CompiledProgram compile(Graph graph, HostTarget target, Precision precision, int rows) {
    NetworkFunction network =
        NetworkBuilder.build(
            graph, new FunctionOptions(precision, FusionInput.GRANULE, true, true));
    int results = network.outputs().size();
    if (results > MOST_RESULTS) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "%d outputs are too many for the CPU's one kernel: at most %d; leave out some",
              results,
              MOST_RESULTS));
    }
    List<StageGroup> groups = StageGroup.split(network, Partition.fused(network));
    StageGroup group = groups.getFirst();
    Scheduled scheduled = RowBlockSchedule.host(group, HostTiling.of(network, rows, target));
    HostProgram lowered =
        HostLowering.lower(scheduled.tiles(), target, LinkedNetwork.constants(network));
    CompiledKernel compiled =
        LinkedNetwork.kernel(
            group,
            scheduled,
            lowered.kernel(),
            "fused over rows in cache",
            "a core carries a few rows through all layers while they are in its cache");
    return LinkedNetwork.of(
        network,
        precision,
        target,
        groups,
        List.of(compiled),
        network.constants().stream().map(constant -> packed(constant, lowered)).toList());
  }

  private static PackedConstant packed(Constant constant, HostProgram lowered) {
    HostProgram.Packed form = lowered.packed().get(constant.buffer());
    return form == null
        ? PackedConstant.plain(constant)
        : new PackedConstant(form.buffer(), form.where(), constant);
  }
}
