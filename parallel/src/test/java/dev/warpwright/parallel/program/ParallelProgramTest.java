package dev.warpwright.parallel.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.CpuDevice;
import dev.warpwright.compiler.SimulatedDevice;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Operand;
import dev.warpwright.model.graph.Value;
import dev.warpwright.sim.Verification;
import dev.warpwright.synthetic.RandomFfn;
import dev.warpwright.synthetic.RandomMlp;
import dev.warpwright.synthetic.Reference;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ParallelProgramTest {
  private static ParallelCompiler compiler(Graph graph, Precision precision, int devices) {
    return new ParallelCompiler(graph, new SimulatedDevice(GpuTarget.SM_90A), precision, devices);
  }

  private static Graph mlp(Precision precision, List<Integer> widths, String act, long seed) {
    List<String> acts = new ArrayList<>();
    for (int i = 2; i < widths.size(); i++) {
      acts.add(act);
    }
    return RandomMlp.of(new Architecture.Mlp(widths, acts), true, precision.operand(), seed);
  }

  /** Runs, and compares with the graph in double precision. */
  private static void verify(ParallelProgram parallel, String about) {
    Random random = new Random(about.hashCode());
    List<float[]> inputs = new ArrayList<>();
    for (Value value : parallel.graph().inputs()) {
      float[] x = new float[parallel.rows() * value.features()];
      for (int i = 0; i < x.length; i++) {
        // What bf16 can hold, so that inputs are not rounded.
        x[i] = (random.nextInt(256) - 128) / 128f;
      }
      inputs.add(x);
    }
    ParallelSimulation.Result result = new ParallelSimulation(parallel).run(inputs);
    assertThat(result.findings()).as(about).isEmpty();
    List<double[]> right = new Reference(parallel.graph()).outputs(parallel.rows(), inputs);
    for (int i = 0; i < right.size(); i++) {
      double[] got = new double[right.get(i).length];
      for (int j = 0; j < got.length; j++) {
        got[j] = result.outputs().get(i)[j];
      }
      Verification compared = Verification.compare(got, right.get(i));
      assertThat(compared.nonFiniteMismatches()).as(about).isZero();
      assertThat(compared.relError())
          .as(about)
          .isLessThanOrEqualTo(parallel.precision().tolerance());
    }
  }

  private static long sums(Program program) {
    return program.steps().stream().filter(Program.AllReduce.class::isInstance).count();
  }

  @Test
  void aFeedForwardBlockIsSplitByColumnsThenByRows() {
    for (Precision precision : List.of(Precision.F32, Precision.BF16)) {
      for (boolean gated : new boolean[] {false, true}) {
        Graph graph =
            new RandomFfn(48, 80, gated, gated ? Activation.SILU : Activation.GELU, true)
                .graph(precision.operand(), 3);
        ParallelProgram parallel = compiler(graph, precision, 2).tensor(37, 1);
        assertThat(parallel.layers())
            .extracting(layer -> layer.how().text())
            .isEqualTo(gated ? List.of("columns", "columns", "rows") : List.of("columns", "rows"));
        assertThat(sums(parallel.program())).isEqualTo(1);
        // Of 80 features each has 40, of the last layer's weight all rows of those.
        assertThat(parallel.constants().get(1))
            .anySatisfy(
                constant ->
                    assertThat(constant.constant().source().shape()).isEqualTo(List.of(48L, 40L)));
        verify(parallel, precision + (gated ? " gated" : ""));
      }
    }
  }

  @Test
  void itsTextIsReadBackAndShowsWhatDevicesShare() {
    Graph graph = new RandomFfn(32, 64, false, Activation.RELU, true).graph(DType.F16, 1);
    Program program = compiler(graph, Precision.F16, 2).tensor(200, 2).program();
    String text = IrPrinter.text(program);
    assertThat(text)
        .startsWith("program ffn on 2 devices {")
        .contains("sharded constant ", "  view ", "  all_reduce sum y", "_0\n", "_1\n");
    Program read = new IrParser(Intrinsics::find).program("ffn", text);
    assertThat(IrPrinter.text(read)).isEqualTo(text);
  }

  @Test
  void rowsInPartsHaveASumEach() {
    Graph graph = new RandomFfn(32, 64, true, Activation.SILU, true).graph(DType.BF16, 1);
    ParallelProgram parallel = compiler(graph, Precision.BF16, 2).tensor(150, 2);
    assertThat(parallel.parts()).isEqualTo(2);
    assertThat(sums(parallel.program())).isEqualTo(2);
    verify(parallel, "parts");
  }

  @Test
  void networksOfSeveralPairsAndOfWidthsThatNothingDivides() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int i = 0; i < 3; i++) {
      List<Integer> widths = new ArrayList<>();
      int layers = 2 + random.nextInt(4);
      for (int w = 0; w <= layers; w++) {
        widths.add(9 + random.nextInt(40));
      }
      Precision precision =
          List.of(Precision.F32, Precision.F16, Precision.BF16).get(random.nextInt(3));
      int devices = 2 + random.nextInt(3);
      int rows = 1 + random.nextInt(150);
      String act = List.of("relu", "gelu", "sigmoid").get(random.nextInt(3));
      Graph graph = mlp(precision, widths, act, seed + i);
      String about =
          String.format(
              Locale.ROOT,
              "seed %d: %s %s %s, %d devices, %d rows",
              seed,
              widths,
              act,
              precision,
              devices,
              rows);
      ParallelProgram parallel =
          compiler(graph, precision, devices).tensor(rows, 1 + random.nextInt(Math.min(2, rows)));
      assertThat(sums(parallel.program())).isEqualTo((long) parallel.parts() * (layers / 2));
      verify(parallel, about);
      verify(compiler(graph, precision, devices).data(rows), about);
    }
  }

  @Test
  void aResidualIsAddedOnce() {
    Graph ffn = new RandomFfn(24, 48, false, Activation.GELU, true).graph(DType.F32, 4);
    Value x = ffn.inputs().getFirst();
    Value y = ffn.outputs().getFirst();
    Value sum = new Value("sum", DType.F32, 24, List.of(new Dim.Symbolic("rows")));
    List<Node> nodes = new ArrayList<>(ffn.nodes());
    nodes.add(
        new Elementwise(
            sum,
            ElementwiseOp.ADD,
            List.of(new Operand.OfValue(x), new Operand.OfValue(y)),
            "residual"));
    Graph graph = new Graph("block", List.of(x), List.of(sum), nodes);
    ParallelProgram parallel = compiler(graph, Precision.F32, 3).tensor(20, 1);
    assertThat(parallel.pieces()).hasSize(2);
    verify(parallel, "residual");
  }

  @Test
  void anInputThatNothingReadsStaysOne() {
    Graph ffn = new RandomFfn(24, 48, false, Activation.GELU, true).graph(DType.F32, 4);
    Value unread = new Value("unread", DType.F32, 5, List.of(new Dim.Symbolic("rows")));
    Graph graph =
        new Graph("two", List.of(unread, ffn.inputs().getFirst()), ffn.outputs(), ffn.nodes());
    ParallelProgram parallel = compiler(graph, Precision.F32, 2).tensor(6, 1);
    assertThat(parallel.inputs()).hasSize(2);
    verify(parallel, "unread");
  }

  @Test
  void fewerRowsThanDevicesLeaveSomeWithout() {
    Graph graph = mlp(Precision.F32, List.of(16, 24, 12), "relu", 5);
    ParallelProgram parallel = compiler(graph, Precision.F32, 4).data(5);
    assertThat(List.of(parallel.rowsOf(0), parallel.rowsOf(2), parallel.rowsOf(3)))
        .isEqualTo(List.of(2, 1, 0));
    verify(parallel, "few rows");
  }

  @Test
  void whatCannotBeSplitIsOneLine() {
    Graph one = mlp(Precision.F32, List.of(16, 24), "relu", 5);
    assertThatThrownBy(() -> compiler(one, Precision.F32, 2).tensor(8, 1))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("nothing to split over 2 GPUs");
    assertThatThrownBy(() -> compiler(one, Precision.F32, 1)).hasMessageContaining("--gpus 1");
    assertThatThrownBy(() -> compiler(one, Precision.F32, 2).tensor(8, 9))
        .isInstanceOf(UserError.class)
        .hasMessageStartingWith("parts=9");
    assertThatThrownBy(
            () -> new ParallelCompiler(one, new CpuDevice(), Precision.F32, 2).tensor(8, 1))
        .isInstanceOf(UserError.class)
        .hasMessage("--gpus 2: the CPU is one device; give --target sim, or a GPU's");
  }
}
