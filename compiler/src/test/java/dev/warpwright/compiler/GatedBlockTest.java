package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Node;
import dev.warpwright.synthetic.RandomFfn;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Gate and up projection of a feed-forward block are one GEMM, and the block two launches. */
final class GatedBlockTest {
  private static final int WIDTH = 96;
  private static final long SEED = Long.getLong("seed", 23);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ffn-swiglu-128-352/model.onnx",
        "ffn-swiglu-128-352/model_ts.onnx",
        "ffn-swiglu-128-352/model.pt2",
        "ffn-swiglu-128-352/model.safetensors",
        "ffn-swiglu-128-352/state_dict.pth",
        "ffn-swiglu-128-352-bf16/model.onnx",
        "ffn-swiglu-128-352-bf16/model.pt2",
        "ffn-swiglu-128-352-bf16/model.safetensors",
        "ffn-swiglu-128-352-bf16/state_dict.pth"
      })
  void everyFormat(String file) {
    Path path = Path.of("..", "models").resolve(file);
    @Nullable Architecture arch =
        file.endsWith(".onnx") || file.endsWith(".pt2")
            ? null
            : new Architecture.Described(path.resolveSibling("arch.json"));
    List<GemmWorkload> products =
        NetworkCompiler.products(Warpwright.load(path, arch).graph(), Precision.BF16, 40);
    assertThat(products).hasSize(2);
    assertThat(products.getFirst().text())
        .isEqualTo("gemm_nt M=40 N=704 K=128 bf16 alpha:1.0,beta:0.0,bias:false,silu,glu");
    assertThat(products.getFirst().resultColumns()).isEqualTo(352);
    assertThat(products.getLast().text()).isEqualTo("gemm_nt M=40 N=128 K=352 bf16");
  }

  @ParameterizedTest
  @CsvSource({
    "sm_90a, BF16, SILU, false, 5",
    "sm_90a, F16, RELU, true, 9",
    "sm_80, F16, GELU_TANH, true, 20"
  })
  void twoLaunches(
      String target, Precision precision, Activation activation, boolean bias, int rows) {
    Graph graph =
        new RandomFfn(WIDTH, 528, true, activation, bias).graph(precision.operand(), SEED);
    try (var device = new SimulatedDevice(GpuTarget.find(target).orElseThrow());
        CompiledModel compiled = new Model(graph).compile(device, precision)) {
      CompiledProgram program = compiled.program(rows);
      assertThat(program.kernels().stream().map(CompiledKernel::stages))
          .containsExactly(List.of("fc", "fc1", "h"), List.of("fc2", "result", "y"));
      // The weights of gate and up are there once: in turns.
      assertThat(
              program.constants().stream()
                  .map(PackedConstant::buffer)
                  .filter(b -> b.rank() == 2)
                  .map(b -> b.extent(0) * b.extent(1)))
          .containsExactlyInAnyOrder(2L * WIDTH * 528, WIDTH * 528L);
      RandomRows data = new RandomRows(graph, rows, SEED);
      data.check(compiled.run(data.x()), precision);
    }
  }

  /** Whichever stands first, and with a bias of one of the two only. */
  @Test
  void upBeforeGate() {
    Graph graph = new RandomFfn(64, 96, true, Activation.GELU, true).graph(DType.F16, SEED);
    List<Node> nodes = new ArrayList<>(graph.nodes());
    for (int i = 0; i < nodes.size(); i++) {
      if (nodes.get(i) instanceof Elementwise e && e.kind() == ElementwiseOp.MUL) {
        nodes.set(i, new Elementwise(e.output(), e.kind(), e.operands().reversed(), e.name()));
      }
    }
    Graph turned = new Graph("turned", graph.inputs(), graph.outputs(), nodes);
    assertThat(NetworkCompiler.products(turned, Precision.F16, 8))
        .isEqualTo(NetworkCompiler.products(graph, Precision.F16, 8))
        .hasSize(2);
  }

  /** What is read elsewhere is computed by itself. */
  @Test
  void aGateThatIsAnOutputIsNone() {
    Graph graph = new RandomFfn(64, 96, true, Activation.SILU, false).graph(DType.F16, SEED);
    Graph both =
        new Graph(
            "both",
            graph.inputs(),
            List.of(graph.outputs().getFirst(), graph.nodes().getFirst().output()),
            graph.nodes());
    assertThat(NetworkCompiler.products(both, Precision.F16, 8))
        .hasSize(3)
        .noneMatch(product -> product.epilogue().glu());
  }
}
