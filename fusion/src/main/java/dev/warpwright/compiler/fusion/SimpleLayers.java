package dev.warpwright.compiler.fusion;

import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.model.function.NetworkFunction.Load;
import dev.warpwright.model.function.NetworkFunction.Map;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.model.function.NetworkFunction.Reduction;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.function.NetworkFunction.Store;
import dev.warpwright.model.function.NetworkFunction.Update;
import dev.warpwright.networks.Scheduled;
import dev.warpwright.networks.layers.ChangedColumns;
import dev.warpwright.networks.layers.LayerSchedule;
import dev.warpwright.networks.layers.LayerTiling;
import dev.warpwright.networks.stages.Partition;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.networks.stages.StrategyTimes;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A simple kernel for each layer, of any rows and columns and in any precision.
 *
 * <pre>
 * before  load x; h1 = x W1; a1 = act(h1 + b1); h2 = a1 W2; … store y
 * after   for each of {@link Partition#byLayer}: one kernel of staged tiles
 * </pre>
 *
 * <p>Its tiles wait for their copies, so it is the last resort; beside one kernel through shared
 * memory that leaves SMs idle it may be faster, which {@link PredictedTime} tells of made kernels.
 */
final class SimpleLayers implements FusionRule {
  @Override
  public String name() {
    return "a simple kernel per layer";
  }

  @Override
  public Verdict judge(FusionInput in) {
    return new Verdict.LastResort("its tiles wait for their copies");
  }

  @Override
  public double micros(FusionInput in, StrategyTimes times) {
    return Double.NaN;
  }

  @Override
  public Attempt apply(FusionInput in, FusionAttempts attempts) {
    String why =
        Objects.requireNonNullElseGet(
            attempts.lastRefusal(), () -> SharedChaining.tooManyResults(in));
    return apply(in, why);
  }

  /**
   * The kernels.
   *
   * @param why there is not one for all
   */
  static Attempt apply(FusionInput in, String why) {
    List<StageGroup> layers = in.layers();
    return new Attempt(
        LinkedNetwork.of(in, layers, layers.stream().map(group -> kernel(in, group, why)).toList()),
        why,
        "");
  }

  /** None: the planner takes it where nothing else is left. */
  @Override
  public List<Alternative> ways(FusionInput in, @Nullable Supplier<GemmKernels> gemms) {
    return List.of();
  }

  /**
   * A kernel of one group of {@link Partition#byLayer}.
   *
   * @param unfused why it is not part of a larger one
   */
  static CompiledKernel kernel(FusionInput in, StageGroup group, String unfused) {
    if (group.stages().getLast() instanceof Update) {
      CompiledKernel kernel = kernel(in, ChangedColumns.of(group), unfused);
      return new CompiledKernel(
          kernel.kernel(),
          kernel.function(),
          kernel.trace(),
          kernel.tileProgram(),
          kernel.strategy(),
          kernel.why(),
          group.stages().stream().map(Stage::block).toList());
    }
    Buffer result =
        group.stages().getLast() instanceof Store store
            ? store.from()
            : Partition.written(group.stages().getLast());
    LayerTiling tiling =
        switch (group.stages().getFirst()) {
          case Matmul product -> LayerTiling.ofProduct(product, in.instruction());
          case Reduction _ -> LayerTiling.ofRows(result);
          case Load _, Map _, Store _, Update _ -> LayerTiling.ofElements(result);
        };
    Scheduled scheduled = LayerSchedule.gpu(group, tiling);
    Kernel kernel = Lowering.lower(scheduled.tiles(), in.target());
    String strategy =
        group.stages().getFirst() instanceof Matmul ? "epilogue" : "elementwise and row sums";
    return LinkedNetwork.kernel(group, scheduled, kernel, strategy, unfused);
  }
}
