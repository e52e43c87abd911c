package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.compiler.execute.ConstantStore;
import dev.warpwright.compiler.execute.SimulatedExecutable;
import dev.warpwright.compiler.fusion.Alternative;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.synthetic.RandomMlp;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Networks whose activations stay in registers, in the simulator beside double precision. */
class RegisterChainTest {
  /** A power of two: what is compiled is for all counts up to the next one. */
  private static final int ROWS = 128;

  private static Graph graph(String architecture, boolean bias) {
    return RandomMlp.of((Architecture.Mlp) Architecture.parse(architecture), bias, DType.F32, 7);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mlp:64,64,64,64:relu             | f16  | true  | 200", // all weights stay
        "mlp:48,80,16:tanh                | bf16 | true  | 70", // groups of 16 columns
        "mlp:3,64,64,5:sin                | f16  | true  | 100", // formulas of inputs, odd outputs
        "mlp:5,240,240,9:tanh             | f16  | true  | 70", // formulas by parts of the columns
        "mlp:13,32,32,7:gelu              | f16  | false | 65", // rows of odd widths both ways
        "mlp:30,41,127,18:relu            | f16  | true  | 70", // masked pairs, loaded and rounded
        "mlp:22,45,61,9:tanh              | bf16 | true  | 65", // the same, with calls
        "mlp:256,128,256,128,256,128:relu | f16  | false | 64", // slices flow
        "mlp:20,224,224,3:relu            | bf16 | false | 65", // a layer by parts between others
        "mlp:64,64,36:relu                | bf16 | true  | 9", // rows of 8 bytes, few of them
        "mlp:176,176,176,176,176,176:sin  | bf16 | true  | 130", // panels of 32 bytes flow
        "mlp:160,160,160,160,160,160:relu | f16  | false | 65", // panels of 64 bytes flow
        "mlp:48,208,112,176,80,176,208,16,176,112,48,176:relu | bf16 | true | 70", // of all kinds
        "mlp:4,157,241,177,154,188,12:silu | f16  | true | 65", // masked columns by parts
        "mlp:162,24,88,242,203,88,85,34,214:relu | bf16 | true | 65", // odd results by parts
        "mlp:20,176,80,112,144,48,176,3:relu | tf32 | true | 70", // and of 4 bytes each
        "mlp:64,64,64,64:relu             | tf32 | true  | 200", // columns 4 apart
        "mlp:3,48,80,5:sin                | tf32 | true  | 70", // formulas, groups of 16, odd
        // outputs
        "mlp:13,32,32,7:gelu              | tf32 | false | 65", // rows of odd widths both ways
        "mlp:128,128,128,128,128:relu     | tf32 | false | 130", // weights of which some flow
        "mlp:20,192,160,36:tanh           | tf32 | true  | 65", // rows of 80 bytes
        "mlp:64,64,64,64:relu             | f16_accumulators | false | 200", // joined in pairs
        "mlp:48,80,16:tanh                | f16_accumulators | true  | 70", // groups of 16 columns
        "mlp:3,64,64,5:sin                | f16_accumulators | true  | 100", // formulas of inputs
        "mlp:30,41,127,18:relu            | f16_accumulators | true  | 70", // masked pairs
        "mlp:256,128,256,128,256:relu     | f16_accumulators | false | 64", // slices flow
        "mlp:4,157,241,177,154,188,12:silu | f16_accumulators | true | 65", // odd ones by parts
      })
  void computesWhatTheGraphSays(String architecture, String type, boolean bias, int rows) {
    Graph graph = graph(architecture.strip(), bias);
    Precision precision = Precision.parse(type);
    float[] x = HonestResults.inputs(graph, rows, 1);
    try (CompiledModel model =
        new CompiledModel(graph, new SimulatedDevice(GpuTarget.SM_90A), precision)) {
      CompiledKernel kernel = model.program(rows).kernels().getFirst();
      assertThat(kernel.strategy()).isEqualTo("register chaining");
      assertThat(IrPrinter.text(kernel.kernel())).contains("wgmma.");
      float[] y = model.run(x);
      assertThat(model.executable(rows).findings()).isEmpty();
      DType result = model.program(rows).network().outputs().getFirst().dtype();
      assertThat(result).isEqualTo(precision.operand());
      HonestResults.assertRight(architecture, graph, precision, precision.operand(), rows, x, y);
    }
  }

  /** Ways of which others are expected to be faster for so few rows. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // Slices of 16 columns among wider ones, by two warpgroups.
        "mlp:9,146,249,62,50,117,120,208,217,7:silu | f16 | true  | 70  | consumers=2",
        // Stages of 14 and of 15 slices, and of five.
        "mlp:60,173,217,251,150,235,146,120,63:relu | bf16 | false | 65 | stages=2",
        "mlp:8,224,167,256,164,184,224,157,16:relu  | f16 | false | 130 | slices=5",
        "mlp:162,24,88,242,203,88,85,34,214:relu    | bf16 | true | 65 | slices=5 columns=128",
        // Slices of 16 columns of 256 and, permuted among 16, of 224.
        "mlp:15,202,107,63,17,230,245,227,9:tanh     | bf16 | false | 70 | stages=2 streamed=2",
        "mlp:208,96,176,160,208,176,224,176,176:relu | bf16 | true | 70 | slices=5 streamed=5",
        // The largest weights flow, no others.
        "mlp:162,24,88,242,203,88,85,34,214:relu    | bf16 | true | 65 | streamed=",
        "mlp:8,224,167,256,164,184,224,157,74,16:relu | f16 | false | 70 | slices=5 streamed=",
        // Narrow layers, which warps carry faster; a vector of eight rows.
        "mlp:32,32,32,32,32,32,32,32,32,32,32,32,32:relu | f16 | true | 65 | consumers=2",
        "mlp:64,32,1:relu                            | f16  | true  | 130 | consumers=2",
        // Halves of the columns, and of no whole groups of 32.
        "mlp:256,256,256:relu                        | f16  | true  | 130 | columns=",
        "mlp:224,224,224:gelu                        | f16  | true  | 70 | columns=",
        // A last part of fewer columns; odd rows by elements, at the end.
        "mlp:7,112,48,2:silu                         | bf16 | false | 65 | prefetch=1",
        "mlp:64,64,91:relu                           | f16  | true  | 71 | prefetch=1",
      })
  void otherWaysDoToo(String architecture, String type, boolean bias, int rows, String way) {
    Graph graph = graph(architecture.strip(), bias);
    Precision precision = Precision.parse(type);
    Alternative found =
        NetworkCompiler.alternatives(graph, GpuTarget.SM_90A, precision).stream()
            .filter(each -> each.name().startsWith("register chaining consumers="))
            .filter(each -> each.name().contains(way.strip()))
            .findFirst()
            .orElseThrow();
    float[] x = HonestResults.inputs(graph, rows, 1);
    try (SimulatedExecutable executable =
        new SimulatedExecutable(found.compile().get().orElseThrow())) {
      float[] y = new float[rows * graph.outputs().getFirst().features()];
      executable.run(rows, List.of(x), List.of(y));
      assertThat(executable.findings()).as(found.name()).isEmpty();
      HonestResults.assertRight(architecture, graph, precision, precision.operand(), rows, x, y);
    }
  }

  /** Whatever multiple of 16 K is, for boxes with rows of 32 bytes take as long as wide ones. */
  @Test
  void slicesOf16ColumnsNeedNoTensorMap() {
    Graph graph = graph("mlp:15,202,107,63,17,230,245,227,9:tanh", false);
    List<Alternative> ways =
        NetworkCompiler.alternatives(graph, GpuTarget.SM_90A, Precision.BF16).stream()
            .filter(each -> each.name().startsWith("register chaining consumers="))
            .filter(each -> each.name().contains("streamed=2"))
            .toList();
    assertThat(ways).extracting(Alternative::name).anyMatch(name -> name.contains("slices=5"));
    for (Alternative way : ways) {
      // The weight of 64 columns that stays has one.
      assertThat(text(way)).as(way.name()).contains("fc3_w: bf16[32, 64],", "&fc3_w[0, 0]");
      assertThat(text(way).lines().filter(line -> line.contains("bulk.load.2d")))
          .as(way.name())
          .hasSize(1);
    }
  }

  /** Each copy of a loop that is unrolled has addresses of its own, where registers are few. */
  @Test
  void manyPanelsAreCopiedByALoop() {
    Graph graph = graph("mlp:15,202,107,63,17,230,245,227,9:tanh", false);
    Alternative way =
        NetworkCompiler.alternatives(graph, GpuTarget.SM_90A, Precision.BF16).stream()
            .filter(each -> each.name().contains("stages=2 streamed=2"))
            .findFirst()
            .orElseThrow();
    assertThat(text(way)).containsPattern("for p in 15 \\[`unroll` = 1] \\{\\s+bulk.load.linear");
  }

  @Test
  void everyWayHasANameOfItsOwnAndTheFirstIsTaken() {
    Graph graph = graph("mlp:64,64,64:relu", true);
    List<Alternative> ways =
        NetworkCompiler.alternatives(graph, GpuTarget.SM_90A, Precision.F16, ROWS);
    assertThat(ways).extracting(Alternative::name).doesNotHaveDuplicates();
    assertThat(ways.getFirst().name()).startsWith("register chaining consumers=");
    assertThat(ways.getLast().name()).isEqualTo("shared chaining");
    CompiledKernel first = ways.getFirst().compile().get().orElseThrow().kernels().getFirst();
    try (CompiledModel model =
        new CompiledModel(graph, new OfflineGpu(GpuTarget.SM_90A), Precision.F16)) {
      assertThat(IrPrinter.text(model.program(ROWS).kernels().getFirst().kernel()))
          .isEqualTo(IrPrinter.text(first.kernel()));
    }
  }

  /** Two rows of three inputs each, of the first item and, an item ahead, of all others. */
  @Test
  void inputsOfFormulasAreReadOnceARow() {
    String[] reads = kernel(graph("mlp:3,64,64,5:sin", false)).split("\\bx\\[", -1);
    assertThat(reads).hasSize(1 + 2 * 2 * 3);
    assertThat(reads[2 * 3])
        .as("between the reads of the first item and those ahead")
        .contains("mbarrier.wait(&full", "for turn in")
        .doesNotContain("if turn == 0");
  }

  /** Accumulators in f16 are the next product's operand but for what is negative. */
  @Test
  void accumulatorsInF16AreNotRoundedAgain() {
    Graph graph = graph("mlp:64,64,64,16:relu", false);
    try (CompiledModel model =
        new CompiledModel(graph, new OfflineGpu(GpuTarget.SM_90A), Precision.F16_ACCUMULATORS)) {
      assertThat(IrPrinter.text(model.program(ROWS).kernels().getFirst().kernel()))
          .contains("wgmma.m64n64k16.f16.f16.ra(&fc", "join.relu.f16x2(fc[", "join.f16x2(fc2[")
          .doesNotContain("f32(fc", "pack.");
    }
  }

  /** What padding adds is zero before it is rounded: one instruction rounds two. */
  @Test
  void maskedColumnsAreRoundedInPairs() {
    assertThat(kernel(graph("mlp:64,127,127,16:relu", true)))
        .contains("pack.relu.f16x2", "select(col")
        .doesNotContain(" f16(", "(f16(");
    assertThat(kernel(graph("mlp:64,127,127,16:tanh", true)))
        .contains("pack.f16x2", "select(col")
        .doesNotContain(" f16(", "(f16(");
  }

  /** Rows of an even number of columns that are no multiple of 16 come by words, masked. */
  @Test
  void neighboursInGlobalMemoryAreOneLoad() {
    assertThat(kernel(graph("mlp:60,64,64,16:relu", false)))
        .contains("bitcast(u32, x[", ", 1, 2)])");
    // Every other row begins in the middle of a word.
    assertThat(kernel(graph("mlp:61,64,64,16:relu", false))).doesNotContain("bitcast(u32, x[");
  }

  /** A thread's 60 columns of five vectors would take 300 registers. */
  @Test
  void weightsOfFewInputsAreReadByParts() {
    assertThat(kernel(graph("mlp:4,240,240,16:tanh", true)))
        .contains("fc_b_columns: f32[16] local", "fc_b_columns: f32[12] local")
        .doesNotContain("fc_b_columns: f32[60] local");
    assertThat(kernel(graph("mlp:3,64,64,5:sin", true))).containsOnlyOnce("fc_b_columns: f32[");
  }

  /** 64 rows of 64 columns are 32 elements of each thread. */
  @Test
  void wideLayersHaveAPartOfTheirAccumulatorsAtATime() {
    assertThat(kernel(graph("mlp:256,256,256:relu", false)))
        .contains("fc: f32[32] local", "h: u32[64] local", "wgmma.m64n64k16")
        .doesNotContain("f32[128] local");
    assertThat(kernel(graph("mlp:224,224,224:relu", false)))
        .contains("fc: f32[56] local", "wgmma.m64n112k16")
        .doesNotContain("wgmma.m64n32k16");
    assertThat(kernel(graph("mlp:192,192,192:relu", false)))
        .contains("fc: f32[96] local", "wgmma.m64n192k16");
  }

  /** Parts of 128 would leave 4 registers of 240 where weights flow by. */
  @Test
  void narrowPartsComeFirstWhereRegistersAreFew() {
    assertThat(first(graph("mlp:256,256,256,256,256:relu", false))).endsWith(" columns=64");
    assertThat(first(graph("mlp:224,224,224,224,224:relu", false))).doesNotContain("columns=");
  }

  /** What ptxas places without spills: 158 and 118 registers of 168 and 128. */
  @Test
  void aBiasCostsNoWarpgroup() {
    assertThat(first(graph("mlp:128,128,128,128,128:relu", true)))
        .isEqualTo("register chaining consumers=3 prefetch=1 stages=1")
        .isEqualTo(first(graph("mlp:128,128,128,128,128:relu", false)));
    assertThat(first(graph("mlp:96,96,96,96,96,96,96:relu", true)))
        .isEqualTo("register chaining consumers=4 prefetch=1 stages=1");
  }

  private static String first(Graph graph) {
    return NetworkCompiler.alternatives(graph, GpuTarget.SM_90A, Precision.F16).getFirst().name();
  }

  private static String kernel(Graph graph) {
    return text(NetworkCompiler.alternatives(graph, GpuTarget.SM_90A, Precision.F16).getFirst());
  }

  /**
   * Of ways whose kernels spill, say, the next is taken; if a few all do, and as much as makes them
   * slower than warps are expected to be, warps are asked, and if theirs do, too, the first is
   * taken.
   */
  @Test
  void whatCompilesToSomethingElseIsPassedOver() {
    Graph graph = graph("mlp:128,128,128:relu", true);
    List<Alternative> ways =
        NetworkCompiler.alternatives(graph, GpuTarget.SM_90A, Precision.F16, ROWS);
    List<String> asked = new ArrayList<>();
    String taken =
        taken(
            graph,
            text -> {
              asked.add(text);
              return asked.size() == 3 ? 0 : 800;
            });
    assertThat(asked).doesNotHaveDuplicates().hasSize(3);
    assertThat(taken).isEqualTo(asked.getLast()).isEqualTo(text(ways.get(2)));
    // A ninth more time: warps would take longer without spills.
    assertThat(takenIfAllSpill(graph, 800, asked)).isEqualTo(asked.getFirst());
    assertThat(asked).hasSize(6).allMatch(text -> text.contains("wgmma."));
    assertThat(takenIfAllSpill(graph, 1 << 20, asked)).isEqualTo(asked.getFirst());
    assertThat(asked.subList(0, 6)).allMatch(text -> text.contains("wgmma."));
    assertThat(asked.subList(6, asked.size()))
        .hasSize(4)
        .allMatch(text -> text.contains("mma.m16"));
  }

  private static String takenIfAllSpill(Graph graph, int bytes, List<String> asked) {
    asked.clear();
    return taken(
        graph,
        text -> {
          asked.add(text);
          return bytes;
        });
  }

  private static String taken(Graph graph, ToIntFunction<String> spills) {
    return IrPrinter.text(
        NetworkCompiler.compile(
                graph,
                GpuTarget.SM_90A,
                Precision.F16,
                ROWS,
                null,
                null,
                kernel -> spills.applyAsInt(IrPrinter.text(kernel)))
            .kernels()
            .getFirst()
            .kernel());
  }

  private static String text(Alternative way) {
    return IrPrinter.text(way.compile().get().orElseThrow().kernels().getFirst().kernel());
  }

  /** The instruction would cut weights off; what is added in f32 stays as it is. */
  @Test
  void weightsInTf32AreRoundedOnce() {
    CompiledProgram program =
        NetworkCompiler.compile(
            graph("mlp:32,32,32:relu", true), GpuTarget.SM_90A, Precision.TF32, 100);
    assertThat(program.kernels().getFirst().strategy()).isEqualTo("register chaining");
    int whole = 0;
    for (PackedConstant constant : program.constants()) {
      float[] packed = (float[]) new ConstantStore().array(constant);
      ConstantTensor source = constant.constant().source();
      boolean weight = constant.buffer().rank() == 2;
      for (float value : packed) {
        if (weight) {
          assertThat(value).as(constant.buffer().name()).isEqualTo(Numerics.tf32(value));
        } else if (value != Numerics.tf32(value)) {
          whole++;
        }
      }
      assertThat(source.count()).isEqualTo(packed.length);
    }
    assertThat(whole).isPositive();
  }

  /** The plan says what keeps activations out of registers. */
  @Test
  void whatIsInTheWayIsSaid() {
    Graph wide = graph("mlp:320,320,320:relu", true);
    try (CompiledModel model =
        new CompiledModel(wide, new OfflineGpu(GpuTarget.SM_90A), Precision.F16)) {
      assertThat(model.program(100).kernels().getFirst().why())
          .contains("not in registers, for fc is wider than the 256 columns that registers hold");
    }
    Graph tf32 = graph("mlp:224,224,32:relu", true);
    try (CompiledModel model =
        new CompiledModel(tf32, new OfflineGpu(GpuTarget.SM_90A), Precision.TF32)) {
      assertThat(model.program(100).kernels().getFirst().why())
          .contains("not in registers, for fc is wider than the 192 columns of tf32");
    }
    Graph residual = RandomNetworks.residual(new Random(1), 64);
    try (CompiledModel model =
        new CompiledModel(residual, new OfflineGpu(GpuTarget.SM_90A), Precision.TF32)) {
      assertThat(model.program(100).kernels().getFirst().why())
          .contains("adds to a GEMM in tf32 what is an operand of another one");
    }
    Graph graph = graph("mlp:64,64,64:relu", true);
    try (CompiledModel model =
        new CompiledModel(graph, new OfflineGpu(GpuTarget.SM_75), Precision.F16)) {
      assertThat(model.program(100).kernels().getFirst().why())
          .contains("not in registers, for sm_75 has no mma.sync");
    }
  }
}
