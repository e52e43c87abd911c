package dev.warpwright.verify.shapes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.type.DType;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.space.Point;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.verify.mutation.Mutations;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Small GEMMs that are special in the way that large ones are. */
final class ReducedGemmTest {
  private static final int SMS = 132;
  private static final long SEED = 3;

  private static final Point WARPS =
      Point.parse(
          "sketch=mma tileM=64 tileN=64 warps=2x2 tileK=64 stages=3 minBlocks=1 order=grouped:8"
              + " division=whole");
  private static final Point PERSISTENT =
      Point.parse(
          "sketch=wgmma tileM=64 tileN=64 tileK=64 minBlocks=1 stages=8 cluster=2x1 persistent=yes"
              + " order=grouped:16 store=shared division=whole");
  private static final Point THREADS =
      Point.parse(
          "sketch=simt alongK=no rows=4 lanesM=4 warpsM=2 columns=4 warpsN=1 slices=1 tileK=8"
              + " ahead=no serpentine=no stages=2 minBlocks=2 parts=6 panel=1");

  private static ReducedGemm reduced(GemmWorkload workload, GpuTarget target, Point point) {
    return ReducedGemm.of(workload, target, SMS, point).orElseThrow();
  }

  @Test
  void remaindersAndAlignmentStay() {
    GemmWorkload large = GemmWorkload.of(1001, 4104, 3010, DType.BF16, Layout.TN);
    GemmWorkload small = reduced(large, GpuTarget.SM_80, WARPS).workload();
    // 1001 = 15 · 64 + 41, 4104 = 64 · 64 + 8, and 3010 = 47 · 64 + 2; a ring has three stages.
    assertThat(small).isEqualTo(GemmWorkload.of(105, 72, 194, DType.BF16, Layout.TN));
    assertThat(reduced(small, GpuTarget.SM_80, WARPS).workload()).isEqualTo(small);
  }

  /** Tiles of 96 columns leave remainders that whole vectors do not. */
  @Test
  void multiplesOf64StayMultiplesOf64() {
    GemmWorkload large = GemmWorkload.of(64, 960, 256, DType.BF16, Layout.NN);
    GemmWorkload small = reduced(large, GpuTarget.SM_80, WARPS.with("tileN", "96")).workload();
    assertThat(small.n()).isEqualTo(192);
  }

  @Test
  void blocksThatTookSeveralTilesDo() {
    GemmWorkload large = GemmWorkload.nt(4096, 4096, 1024, DType.BF16);
    ReducedGemm small = reduced(large, GpuTarget.SM_90A, PERSISTENT);
    assertThat(small.workload()).isEqualTo(GemmWorkload.nt(128, 128, 576, DType.BF16));
    assertThat(small.finding(SEED)).isEmpty();
  }

  /**
   * Clusters of four fill 16 SMs at least: four tiles are too few, and eight are multiples of 64.
   */
  @Test
  void blocksOfLargeClustersTakeSeveralTiles() {
    GemmWorkload large = GemmWorkload.nt(8192, 8192, 256, DType.BF16);
    Point clusters =
        Point.parse(
            "sketch=wgmma tileM=64 tileN=16 tileK=64 minBlocks=1 stages=12 cluster=4x1"
                + " persistent=yes resident=128 order=row store=shared division=whole");
    ReducedGemm small = reduced(large, GpuTarget.SM_90A, clusters);
    assertThat(small.workload().m() * small.workload().n()).isEqualTo(8 * 256 * 16);
    assertThat(small.kernel().extent(ThreadAxis.BLOCK_X))
        .matches(blocks -> blocks instanceof Expr.IntImm imm && imm.value() == 16);
    assertThat(small.finding(SEED)).isEmpty();
  }

  /** No fewer SMs than a cluster has blocks, where no block took a second tile. */
  @Test
  void aClusterHasAllOfItsBlocks() {
    GemmWorkload large = GemmWorkload.of(97, 624, 9520, DType.BF16, Layout.NN);
    Point square = PERSISTENT.with("cluster", "2x2").with("stages", "12");
    for (Point point : List.of(PERSISTENT, square.with("resident", "128"))) {
      ReducedGemm small = reduced(large, GpuTarget.SM_90A, point);
      assertThat(small.kernel().extent(ThreadAxis.BLOCK_X))
          .matches(blocks -> blocks instanceof Expr.IntImm imm && imm.value() >= 2);
      assertThat(small.kernel().buffers()).anyMatch(buffer -> buffer.name().equals("order"));
      assertThat(small.finding(SEED)).isEmpty();
    }
  }

  @Test
  void partsHaveTheStepsThatTheyAskFor() {
    GemmWorkload large = GemmWorkload.nt(60, 60, 4003, DType.F32);
    ReducedGemm small = reduced(large, GpuTarget.SM_86, THREADS);
    // Two steps for each of six parts and a part of a step more, 4003 % 8.
    assertThat(small.workload().k()).isEqualTo(6 * 2 * 8 + 3);
    assertThat(small.finding(SEED)).isEmpty();
  }

  @Test
  void aConfigurationThatFitsNothingIsNotReduced() {
    GemmWorkload large = GemmWorkload.nt(100, 100, 100, DType.BF16);
    Point warps = WARPS.with("warps", "9x9");
    assertThat(ReducedGemm.of(large, GpuTarget.SM_80, SMS, warps)).isEmpty();
    assertThatThrownBy(() -> ReducedGemm.of(large, GpuTarget.SM_80, SMS, PERSISTENT))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("family");
  }

  /** Mistakes are found, those of a smaller GPU's memory too. */
  @Test
  void theSimulatorSaysWhatIsWrong() {
    GemmWorkload large = GemmWorkload.nt(1000, 1000, 1000, DType.BF16);
    ReducedGemm small = reduced(large, GpuTarget.SM_80, WARPS);
    assertThat(small.finding(SEED)).isEmpty();
    ReducedGemm wrong =
        Mutations.ALL.stream()
            .flatMap(mutation -> mutation.plant(small.kernel()).stream())
            .filter(mutant -> !mutant.mayOnlyChangeResults())
            .findFirst()
            .map(mutant -> new ReducedGemm(small.workload(), small.target(), mutant.kernel()))
            .orElseThrow();
    assertThat(wrong.finding(SEED)).isPresent();
    Point wide = WARPS.with("tileM", "256").with("tileN", "128").with("stages", "3");
    ReducedGemm large160 = reduced(large, GpuTarget.SM_80, wide.with("warps", "4x2"));
    Optional<Finding> finding =
        new ReducedGemm(large160.workload(), GpuTarget.SM_86, large160.kernel()).finding(SEED);
    assertThat(finding.orElseThrow().message()).contains("shared memory");
  }
}
