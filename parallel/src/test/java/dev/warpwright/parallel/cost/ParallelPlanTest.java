package dev.warpwright.parallel.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.SimulatedDevice;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Operand;
import dev.warpwright.model.graph.Value;
import dev.warpwright.parallel.cost.ParallelPlan.Estimate;
import dev.warpwright.parallel.program.Way;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Precision;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class ParallelPlanTest {
  /** Plans look at no weight: these are zeros that nobody touches. */
  private static Graph ffn(int width, int hidden) {
    Value x = value("x", width);
    Value up = value("up", hidden);
    Value act = value("act", hidden);
    Value y = value("y", width);
    return new Graph(
        "ffn",
        List.of(x),
        List.of(y),
        List.of(
            new Linear(up, x, zeros(hidden, width), null, "up"),
            new Elementwise(act, Activation.GELU, List.of(new Operand.OfValue(up)), "gelu"),
            new Linear(y, act, zeros(width, hidden), null, "down")));
  }

  private static Value value(String name, int features) {
    return new Value(name, DType.BF16, features, List.of(new Dim.Symbolic("rows")));
  }

  private static ConstantTensor zeros(long rows, long columns) {
    return new ConstantTensor(
        "w",
        DType.BF16,
        List.of(rows, columns),
        Arena.ofAuto().allocate(2 * rows * columns, Long.BYTES));
  }

  private static ParallelPlan plan(Graph graph, int rows, String request) {
    return ParallelPlan.of(
        graph,
        new SimulatedDevice(GpuTarget.SM_90A),
        Precision.BF16,
        rows,
        Objects.requireNonNull(ParallelRequest.parse(request)));
  }

  @Test
  void largeBlocksAreSplitAndSumsHideBehindThem() {
    ParallelPlan plan = plan(ffn(4096, 14336), 4096, "2");
    Estimate one = plan.estimates().getFirst();
    Estimate whole = tensor(plan, 1);
    Estimate halves = tensor(plan, 2);
    assertThat(one.way()).isNull();
    assertThat(whole.sums()).isEqualTo(1);
    assertThat(whole.sentBytes()).isEqualTo(4096 * 4096 * 2);
    assertThat(whole.totalUs()).isCloseTo(whole.computeUs() + whole.sumUs(), within(1e-6));
    assertThat(halves.sums()).isEqualTo(2);
    assertThat(halves.sentBytes()).isEqualTo(whole.sentBytes());
    // The first half's sum is hidden, the second one's is not.
    assertThat(halves.exposedUs()).isCloseTo(halves.sumUs() / 2, within(1e-6));
    assertThat(plan.best().way()).isNotNull();
    assertThat(plan.best().totalUs()).isBetween(0.45 * one.totalUs(), 0.7 * one.totalUs());
  }

  @Test
  void fewRowsReadHalfTheWeightsEachAndDataParallelAllOfThem() {
    ParallelPlan plan = plan(ffn(4096, 14336), 16, "2");
    double one = plan.estimates().getFirst().totalUs();
    Estimate data =
        plan.estimates().stream().filter(e -> e.way() == Way.DATA).findFirst().orElseThrow();
    assertThat(data.totalUs()).isGreaterThan(0.9 * one);
    assertThat(tensor(plan, 1).computeUs()).isLessThan(0.65 * one);
    assertThat(plan.best()).isEqualTo(tensor(plan, 1));
  }

  @Test
  void smallBlocksStayOnOne() {
    ParallelPlan plan = plan(ffn(256, 512), 16, "2,link=network400");
    assertThat(plan.best().way()).isNull();
    assertThat(plan.program().way()).isNotNull();
  }

  @Test
  void whatIsChosenIsWhatIsEstimated() {
    Graph graph = ffn(256, 512);
    ParallelPlan data = plan(graph, 64, "2,data");
    assertThat(data.program().way()).isEqualTo(Way.DATA);
    ParallelPlan two = plan(graph, 64, "2,tensor,parts=2");
    assertThat(two.program().parts()).isEqualTo(2);
    assertThat(two.estimates()).hasSize(2);
  }

  @Test
  void whatIsAskedForIsReadOrRefusedInOneLine() {
    assertThat(ParallelRequest.parse("1")).isNull();
    assertThat(ParallelRequest.parse("4,tensor,parts=2,link=pcie5"))
        .isEqualTo(new ParallelRequest(4, Way.TENSOR, OptionalInt.of(2), Link.require("pcie5")));
    for (String wrong :
        List.of("", "0", "two", "2,both", "2,parts=0", "2,data,parts=2", "1,data")) {
      assertThatThrownBy(() -> ParallelRequest.parse(wrong))
          .as(wrong)
          .isInstanceOf(UserError.class)
          .hasMessageStartingWith("--gpus " + wrong + ": ");
    }
  }

  private static Estimate tensor(ParallelPlan plan, int parts) {
    return plan.estimates().stream()
        .filter(e -> e.way() == Way.TENSOR && e.parts() == parts)
        .findFirst()
        .orElseThrow();
  }
}
