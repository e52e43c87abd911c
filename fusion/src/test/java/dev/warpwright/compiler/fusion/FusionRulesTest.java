package dev.warpwright.compiler.fusion;

import static dev.warpwright.compiler.fusion.RuleAssert.mlp;
import static dev.warpwright.compiler.fusion.RuleAssert.on;
import static dev.warpwright.target.GpuTarget.SM_90A;
import static dev.warpwright.workload.Precision.BF16;
import static dev.warpwright.workload.Precision.F16;
import static dev.warpwright.workload.Precision.F32;
import static dev.warpwright.workload.Precision.TF32;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Value;
import dev.warpwright.networks.registers.ChainTiling;
import dev.warpwright.networks.registers.ChainTimes;
import dev.warpwright.synthetic.RandomMlp;
import dev.warpwright.target.Calibration;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each rule of the planner: what it fits, what it makes of it, and why it does not fire. */
final class FusionRulesTest {
  private static final GpuTarget SM_80 = GpuTarget.find("sm_80").orElseThrow();
  private static final GpuTarget SM_75 = GpuTarget.find("sm_75").orElseThrow();
  private static final String CHAINED = CompiledKernel.REGISTER_CHAINING;
  private static final String SHARED = CompiledKernel.SHARED_CHAINING;

  /** A network with the results of the first so many layers as outputs of their own. */
  private static Graph withOutputs(Graph graph, int count) {
    List<Value> outputs = new ArrayList<>(graph.outputs());
    for (Node node : graph.nodes().subList(0, count)) {
      outputs.add(node.output());
    }
    return new Graph(graph.name(), graph.inputs(), outputs, graph.nodes());
  }

  @Nested
  final class Warpgroups {
    private static final int FEW_THREADS = 128;

    private final FusionRule rule = new ChainInWarpgroups();

    @Test
    void carryNarrowNetworks() {
      RuleAssert small = on(rule, mlp("64-64-64", F16), SM_90A, F16, 256);
      small.makes(CHAINED);
      double few = small.fires().micros();
      double many = on(rule, mlp("64-64-64", F16), SM_90A, F16, 1 << 20).fires().micros();
      assertThat(few).isLessThan(5);
      on(rule, withOutputs(mlp("64-64-64", F16), 1), SM_90A, F16, 256).makes(CHAINED);
      // 256 MiB from and to memory.
      assertThat(many).isBetween(55.0, 80.0);
    }

    /** Norms cost instructions and waits: of few rows the waits, of many the instructions. */
    @Test
    void carryNetworksWithNorms() {
      Graph plain = mlp("64-64-64-64", F16);
      Graph normed = RandomMlp.normed(plain);
      for (int rows : new int[] {256, 1 << 20}) {
        RuleAssert norms = on(rule, normed, SM_90A, F16, rows);
        norms.makes(CHAINED);
        double without = on(rule, plain, SM_90A, F16, rows).fires().micros();
        assertThat(norms.fires().micros()).isBetween(1.1 * without, 2 * without);
      }
      FusionInput few = FusionInput.of(normed, SM_90A, F16, 256);
      assertThat(FusionPlanner.firing(few).getFirst()).isSameAs(FusionPlanner.chaining(few));
      on(rule, RandomMlp.normed(mlp("64-64-64", TF32)), SM_90A, TF32, 256)
          .doesNotFire("sum needs other columns than its own, which tf32 places otherwise");
    }

    /** Of 256 columns with a norm all accumulators are there at once, of others a part. */
    @Test
    void haveAllColumnsOfANorm() {
      Graph normed = RandomMlp.normed(mlp("256-256-256", F16));
      FusionInput in = FusionInput.of(normed, SM_90A, F16, 4096);
      String kernel =
          IrPrinter.text(
              rule.apply(in, new FusionAttempts(null, k -> 0))
                  .made()
                  .orElseThrow()
                  .kernels()
                  .getFirst()
                  .kernel());
      assertThat(kernel)
          .contains("fc: f32[128] local", "of_row: f32[2] local")
          .doesNotContain("fc1: f32[128] local");
      assertThat(kernel.split("sqrt\\(", -1)).hasSize(1 + 2);
    }

    /**
     * Weights that flow by rows of 32 bytes of tensor maps take longer than packed ones. (The 177
     * µs that such kernels took had 7776 spilled bytes in them.)
     */
    @Test
    void areSlowerWhereWeightsFlowByNarrowRows() {
      String widths = "176-176-176-176-176-176-176-176-176-176";
      FusionInput in = FusionInput.of(mlp(widths, BF16), SM_90A, BF16, 32768);
      double packed = rule.micros(in, in.times().orElseThrow());
      double warps = new ChainInWarps().micros(in, in.times().orElseThrow());
      ChainTiling tiling = ChainTiling.candidates(in.chained(), SM_90A, in.sms(), false).getFirst();
      double unpacked =
          new ChainTimes(Calibration.of(GpuTarget.SM_90A))
              .micros(tiling, in.chained(), Set.of(), in.sms(), in.rows());
      assertThat(packed).isBetween(20.0, 40.0).isLessThan(warps);
      assertThat(unpacked).isGreaterThan(packed);
    }

    /** Where none of their kernels compiles to what it is meant to be, warps carry rows. */
    @Test
    void leaveToWarpsWhatIsSlow() {
      FusionInput in = FusionInput.of(mlp("64-64-64", F16), SM_90A, F16, 4096);
      FusionAttempts byWarps =
          new FusionAttempts(null, kernel -> isByWarpgroups(kernel) ? 1 << 20 : 0);
      assertThat(rule.apply(in, byWarps).why()).contains("warps holds activations of 32 rows");
      FusionAttempts none = new FusionAttempts(null, kernel -> 1 << 20);
      assertThat(rule.apply(in, none).why()).contains("warpgroups holds activations");
    }

    /** Where all spill, warps have to spill much less. */
    @Test
    void leaveToWarpsWhatSpillsMuchMore() {
      FusionInput in = FusionInput.of(mlp("64-64-64", F16), SM_90A, F16, 4096);
      FusionAttempts few = new FusionAttempts(null, kernel -> isByWarpgroups(kernel) ? 8000 : 32);
      assertThat(rule.apply(in, few).why()).contains("warps holds activations");
      FusionAttempts alike = new FusionAttempts(null, kernel -> isByWarpgroups(kernel) ? 64 : 32);
      assertThat(rule.apply(in, alike).why()).contains("warpgroups holds activations");
    }

    /** Slices of 14 have panels of their own, but for those of 15 beside them. */
    @Test
    void haveOneRingForStagesOfManyWidths() {
      Graph graph = mlp("60-173-217-251-150-235-146-120-63-225-171-63", BF16);
      FusionInput in = FusionInput.of(graph, SM_90A, BF16, 16384);
      assertThat(rule.apply(in, new FusionAttempts(null, kernel -> 0)).why())
          .contains("2 warpgroups");
    }

    /** Columns that padding adds make no formula wider than its part, nor results of odd width. */
    @Test
    void takeFormulasOfPaddedColumnsByParts() {
      for (String widths :
          List.of("4-157-241-177-154-188-12", "162-24-63-23-88-242-203-88-85-34-214")) {
        FusionInput in = FusionInput.of(mlp(widths, BF16), SM_90A, BF16, 131072);
        assertThat(rule.apply(in, new FusionAttempts(null, kernel -> 0)).why())
            .as(widths)
            .contains("2 warpgroups");
      }
    }

    /**
     * 64 (four) at 2²⁰ rows: 68.3 µs by four warpgroups, 73.0 by three, 81.0 if none reads ahead.
     */
    @Test
    void haveRowsUnderWayWhereMemoryIsTheLimit() {
      Graph graph =
          RandomMlp.of(
              (Architecture.Mlp) Architecture.parse("mlp:64,64,64,64,64:relu"),
              false,
              DType.F16,
              1);
      FusionInput in = FusionInput.of(graph, SM_90A, F16, 1 << 20);
      ChainInWarpgroups warpgroups = new ChainInWarpgroups();
      ChainTiling best = warpgroups.tilings(in).getFirst();
      assertThat(best.consumers()).isEqualTo(4);
      assertThat(best.prefetch()).isTrue();
      assertThat(warpgroups.micros(in, in.sms()).applyAsDouble(best)).isBetween(61.0, 76.0);
    }

    /** Of those that were tried. */
    @Test
    void takeWhatSpillsLeast() {
      FusionInput in = FusionInput.of(mlp("64-64-64", F16), SM_90A, F16, 4096);
      List<Kernel> tried = new ArrayList<>();
      Attempt attempt =
          rule.apply(
              in,
              new FusionAttempts(
                  null,
                  kernel -> {
                    tried.add(kernel);
                    return tried.size() == 3 ? 800 : 1600;
                  }));
      assertThat(tried).hasSizeGreaterThan(3);
      assertThat(attempt.made().orElseThrow().kernels().getFirst().kernel()).isSameAs(tried.get(2));
    }

    /** A few bytes cost less than half of the warpgroups, many more. */
    @Test
    void weighSpillsAgainstWarps() {
      assertThat(threads(88, 8)).isGreaterThan(FEW_THREADS);
      assertThat(threads(88, 0)).isGreaterThan(FEW_THREADS);
      assertThat(threads(6000, 8)).isLessThanOrEqualTo(FEW_THREADS);
      assertThat(threads(1 << 20, 800)).isLessThanOrEqualTo(FEW_THREADS);
    }

    /** Of the kernel that is taken if larger blocks spill so many bytes, and smaller ones. */
    private int threads(int large, int small) {
      FusionInput in = FusionInput.of(mlp("128-128-128", F16), SM_90A, F16, 1 << 20);
      Attempt attempt =
          rule.apply(
              in,
              new FusionAttempts(
                  null, kernel -> kernel.threadsPerBlock() > FEW_THREADS ? large : small));
      return attempt.made().orElseThrow().kernels().getFirst().kernel().threadsPerBlock();
    }

    /** 4096 rows are half a tile for each SM. */
    @Test
    void areNoMoreThanTheirTiles() {
      assertThat(first(4096)).isEqualTo(1);
      assertThat(first(132 * 64 * 2)).isEqualTo(2);
      assertThat(first(1 << 20)).isGreaterThan(3);
    }

    /** Narrow parts let four warpgroups in, of which one has rows. */
    @Test
    void haveWholeColumns() {
      String widths = "160-160-160-160";
      assertThat(first(widths, 1024).columns()).isEqualTo(192);
      assertThat(first(widths, 1024).consumers()).isEqualTo(1);
      assertThat(first(widths, 1 << 20).consumers()).isBetween(2, 3);
    }

    /** 160 (nine), gelu, f16, 8192 rows: 40.2 µs by columns=64, 34.4 by whole columns. */
    @Test
    void haveWholeColumnsWhereWeightsFlow() {
      Graph gelus =
          RandomMlp.of(
              (Architecture.Mlp) Architecture.parse("mlp:160" + ",160".repeat(8) + ":gelu"),
              false,
              DType.F16,
              1);
      FusionInput in = FusionInput.of(gelus, SM_90A, F16, 8192);
      assertThat(new ChainInWarpgroups().tilings(in).getFirst().columns()).isEqualTo(192);
    }

    private static int first(int rows) {
      return first("64-64-64", rows).consumers();
    }

    private static ChainTiling first(String widths, int rows) {
      Graph sines =
          RandomMlp.of(
              (Architecture.Mlp) Architecture.parse("mlp:" + widths.replace('-', ',') + ":sin"),
              false,
              DType.F16,
              1);
      return new ChainInWarpgroups().tilings(FusionInput.of(sines, SM_90A, F16, rows)).getFirst();
    }

    private static boolean isByWarpgroups(Kernel kernel) {
      return IrPrinter.text(kernel).contains("wgmma.");
    }

    @Test
    void doNotCarryOthers() {
      on(rule, mlp("64-64-64", F16), SM_80, F16, 256)
          .doesNotFire("sm_80 has no GEMMs with operands in registers of a warpgroup");
      on(rule, mlp("320-320", F16), SM_90A, F16, 256)
          .doesNotFire("fc is wider than the 256 columns that registers hold");
      on(rule, mlp("64-64", F32), SM_90A, F32, 256)
          .doesNotFire("fc is no GEMM of 16-bit operands or in tf32");
    }
  }

  @Nested
  final class Warps {
    private final FusionRule rule = new ChainInWarps();

    @Test
    void carryNarrowNetworks() {
      RuleAssert small = on(rule, mlp("64-64-64", F16), SM_80, F16, 256);
      small.fires();
      small.makes(CHAINED);
    }

    @Test
    void doNotCarryOthers() {
      on(rule, mlp("64-64-64-64-64", F16), SM_90A, F16, 256)
          .doesNotFire("on sm_90a warpgroups chain, whose GEMMs are faster");
      on(rule, mlp("64-64", F16), SM_75, F16, 256)
          .doesNotFire("sm_75 has no mma.sync of 16 by 8 by 16 with operands in registers");
      on(rule, mlp("64-64", TF32), SM_80, TF32, 256)
          .doesNotFire("fc is no GEMM of 16-bit operands");
    }
  }

  @Nested
  final class Tiles {
    private final FusionRule rule = new TilesInRegisters();

    @Test
    void ofManyRowsInF32() {
      RuleAssert many = on(rule, mlp("64-64-64", F32), SM_90A, F32, 1 << 17);
      many.makes(SHARED);
      // The same without them reads shared memory for longer than it multiplies.
      assertThat(many.fires().micros())
          .isLessThan(
              on(new ThroughShared(), mlp("64-64-64", F32), SM_90A, F32, 1 << 17).fires().micros());
    }

    @Test
    void ofNothingElse() {
      on(rule, mlp("64-64", F32), SM_90A, F32, 1000)
          .doesNotFire("1000 rows are no tile for each SM");
      on(rule, mlp("64-64", F16), SM_90A, F16, 1 << 20)
          .doesNotFire("it multiplies on CUDA cores, and f16 is for tensor cores");
      on(rule, mlp("64-2048", F32), SM_90A, F32, 1 << 20)
          .doesNotFire("no tile of a thread divides its layers' columns");
    }
  }

  @Nested
  final class Fma {
    private final FusionRule rule = new ChainByFma();

    @Test
    void ofManyRowsInF32() {
      RuleAssert many = on(rule, mlp("64-64-64", F32), SM_90A, F32, 1 << 17);
      many.makes(SHARED);
      assertThat(many.fires().micros())
          .isLessThan(
              on(new TilesInRegisters(), mlp("64-64-64", F32), SM_90A, F32, 1 << 17)
                  .fires()
                  .micros());
    }

    @Test
    void ofNothingElse() {
      on(rule, mlp("64-64", F32), SM_90A, F32, 10_000)
          .doesNotFire("10000 rows are no tile for each scheduler of each SM");
      on(rule, mlp("64-64", F16), SM_90A, F16, 1 << 20)
          .doesNotFire("it multiplies on CUDA cores, and f16 is for tensor cores");
      on(rule, withOutputs(mlp("64-64-64", F32), 1), SM_90A, F32, 1 << 20)
          .doesNotFire("it has several results");
      on(rule, mlp("256-256-256", F32), SM_90A, F32, 1 << 20)
          .doesNotFire(
              "its weights and activations take too much shared memory, or its layers too much"
                  + " code");
      on(rule, mlp("64-128-96-64-32", F32), SM_90A, F32, 1 << 20)
          .doesNotFire(
              "its weights and activations take too much shared memory, or its layers too much"
                  + " code");
      on(rule, mlp("64-64", F32), SM_75, F32, 1 << 20)
          .doesNotFire("sm_75 has no asynchronous copies");
      Graph sines =
          RandomMlp.of(
              (Architecture.Mlp) Architecture.parse("mlp:64,64,64:sin"), true, F32.operand(), 1);
      on(rule, sines, SM_90A, F32, 1 << 20).doesNotFire("h calls functions");
    }
  }

  @Nested
  final class Shared {
    private final FusionRule rule = new ThroughShared();

    @Test
    void carriesWhatRegistersDoNot() {
      on(rule, mlp("320-320-320", F16), SM_90A, F16, 256).makes(SHARED);
      on(rule, withOutputs(mlp("64-64-64", F16), 1), SM_75, F16, 256).makes(SHARED);
    }

    @Test
    void takesNoLessThanRegisters() {
      for (int rows : new int[] {1, 256, 1 << 20}) {
        RuleAssert shared = on(rule, mlp("16-16-16", F16), SM_90A, F16, rows);
        FusionInput in = shared.in();
        assertThat(FusionPlanner.inRegisters(in, in.times().orElseThrow()))
            .isPositive()
            .isLessThanOrEqualTo(shared.fires().micros());
      }
    }

    @Test
    void whatDoesNotFit() {
      on(rule, mlp("16-8192", F16), SM_90A, F16, 256)
          .cannotBeApplied("accumulators that are needed at once take");
      Graph many = mlp("16" + "-16".repeat(130), F16);
      on(rule, withOutputs(many, 2 * 130 - 2), SM_90A, F16, 256)
          .doesNotFire("259 results are too many for one kernel");
    }
  }

  @Nested
  final class Gemms {
    private final FusionRule rule = new GemmPerLayer();

    @Test
    void ofWideLayers() {
      RuleAssert wide = on(rule, mlp("512-512-512", F16), SM_90A, F16, 4096);
      Verdict.Fires fires = wide.fires();
      assertThat(fires.weighed()).isGreaterThan(fires.micros());
      // What lies between short launches counts.
      wide.makes("epilogue, overlapping launch", "epilogue, overlapping launch");
      on(rule, mlp("512-512-512", F16), SM_90A, F16, 1 << 18).makes("epilogue", "epilogue");
    }

    @Test
    void notInTf32() {
      on(rule, mlp("512-512", TF32), SM_90A, TF32, 4096)
          .doesNotFire(
              "GEMMs of the families cut operands off to tf32, which several layers do not bear");
    }

    @Test
    void withoutFamilies() {
      FusionInput in = FusionInput.of(mlp("512-512", F16), SM_90A, F16, 4096);
      assertThat(rule.apply(in, new FusionAttempts(null, kernel -> 0)))
          .isEqualTo(Attempt.refused("there are no kernels of the families"));
    }
  }

  @Nested
  final class Simple {
    private final FusionRule rule = new SimpleLayers();

    @Test
    void areTheLastResort() {
      RuleAssert any = on(rule, mlp("48-48-48", F16), SM_75, F16, 256);
      assertThat(rule.judge(any.in())).isInstanceOf(Verdict.LastResort.class);
      any.makes("elementwise and row sums", "epilogue", "epilogue");
    }
  }

  /** Which rule is taken: of those that fire, the one that is expected to take the least. */
  @ParameterizedTest
  @CsvSource({
    "64-64-64, F16, sm_90a, 256, register chaining by warpgroups",
    "64-64-64, F16, sm_80, 256, register chaining by warps",
    "64-64-64, F16, sm_75, 256, shared chaining",
    "64-64-64, F32, sm_90a, 1048576, shared chaining by warps",
    "256-256-256, F32, sm_90a, 1048576, shared chaining by tiles of registers",
    "512-512-512-512-512, F16, sm_90a, 16, GEMM per layer",
    "512-512-512-512-512, F16, sm_90a, 65536, GEMM per layer"
  })
  void theFastestIsTaken(
      String widths, Precision precision, String target, int rows, String strategy) {
    FusionInput in =
        FusionInput.of(
            mlp(widths, precision), GpuTarget.find(target).orElseThrow(), precision, rows);
    FusionRule first = FusionPlanner.firing(in).getFirst();
    assertThat(first.name()).isEqualTo(strategy);
    double least =
        FusionPlanner.RULES.stream()
            .map(rule -> rule.judge(in))
            .filter(Verdict.Fires.class::isInstance)
            .mapToDouble(verdict -> ((Verdict.Fires) verdict).weighed())
            .min()
            .orElseThrow();
    assertThat(first.judge(in))
        .isInstanceOfSatisfying(
            Verdict.Fires.class, fires -> assertThat(fires.weighed()).isEqualTo(least));
  }

  /** Without the families' kernels, what layers would take is a reason to look again. */
  @Test
  void withoutFamiliesTheNextIsTaken() {
    FusionInput in = FusionInput.of(mlp("1024-1024-1024", F16), SM_90A, F16, 4096);
    assertThat(FusionPlanner.firing(in).getFirst()).isInstanceOf(GemmPerLayer.class);
    assertThat(
            RuleAssert.strategies(
                FusionPlanner.plan(in, new FusionAttempts(null, kernel -> 0)).program()))
        .doesNotContain(CHAINED)
        .isNotEmpty();
  }
}
