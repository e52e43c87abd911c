package dev.warpwright.measure.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.base.UserError;
import dev.warpwright.families.attention.AttentionConfig;
import dev.warpwright.families.attention.AttentionConfig.Combine;
import dev.warpwright.families.attention.AttentionKernels;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.attention.AttentionBench.Outcome;
import dev.warpwright.measure.fake.FakeGpu;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Attention;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Attention on the fake GPU: what is right is timed, all launches together, and nothing else. */
class AttentionBenchTest {
  private static final long SEED = Long.getLong("seed", 11);
  private static final Attention ATTENTION =
      Attention.of(2, 4, 2, 16, 3, 37, DType.BF16).withCausal(true).withPage(16);
  private static final AttentionConfig WHOLE = new AttentionConfig(16, 16, 1, 32, 2);
  private static final AttentionConfig PARTS = new AttentionConfig(16, 16, 2, 32, 1);
  private static final String KERNEL = "attention_bf16_causal_paged";

  private final FakeGpu fake = FakeGpu.install();
  private final List<Outcome> told = new ArrayList<>();

  @AfterEach
  void uninstall() {
    fake.close();
  }

  private List<Outcome> run() {
    try (Gpu gpu = Gpu.find().orElseThrow()) {
      for (AttentionConfig config : List.of(WHOLE, PARTS)) {
        AttentionKernels.ofFull(ATTENTION, config, (GpuTarget) gpu.target())
            .kernels()
            .forEach(fake::knows);
      }
      List<Outcome> outcomes =
          AttentionBench.run(
              ATTENTION,
              Stream.of(WHOLE, PARTS).map(AttentionWay::of).toList(),
              gpu,
              SEED,
              5,
              line -> {},
              told::add);
      assertThat(fake.liveBuffers()).isZero();
      assertThat(outcomes).extracting(Outcome::config).containsExactly(WHOLE, PARTS);
      return outcomes;
    }
  }

  @Test
  void allLaunchesOfAConfigurationCount() {
    fake.takes(KERNEL, 50).takes(KERNEL + "_part", 30).takes(KERNEL + "_combine", 7);
    List<Outcome> outcomes = run();
    assertThat(outcomes).allSatisfy(o -> assertThat(o.failure()).isNull());
    assertThat(outcomes.get(0).micros()).isCloseTo(50, within(0.01));
    assertThat(outcomes.get(1).micros()).isCloseTo(37, within(0.01));
    assertThat(outcomes.get(0).relError()).isBetween(1e-6, ATTENTION.tolerance());
    // Each at once, then both in turn, the fastest first.
    assertThat(told).extracting(Outcome::config).containsExactly(WHOLE, PARTS, PARTS, WHOLE);
    assertThat(told).allSatisfy(o -> assertThat(o.times()).isNotNull());
    assertThat(told).allSatisfy(o -> assertThat(o.sourceHash()).hasSize(64));
  }

  /** Its counters are zero when it is loaded, and nobody sets them again. */
  @Test
  void theLastBlockCombinesInEveryLaunch() {
    AttentionConfig last = PARTS.combined(Combine.LAST);
    try (Gpu gpu = Gpu.find().orElseThrow()) {
      AttentionKernels.ofFull(ATTENTION, last, (GpuTarget) gpu.target())
          .kernels()
          .forEach(fake::knows);
      Outcome outcome =
          AttentionBench.run(
                  ATTENTION, List.of(AttentionWay.of(last)), gpu, SEED, 5, line -> {}, told::add)
              .getFirst();
      assertThat(outcome.failure()).isNull();
      assertThat(outcome.relError()).isBetween(1e-6, ATTENTION.tolerance());
    }
  }

  @Test
  void whatIsWrongHasNoTime() {
    fake.breaks(KERNEL + "_combine");
    fake.compiler().spill(KERNEL, 8);
    List<Outcome> outcomes = run();
    assertThat(outcomes).allSatisfy(o -> assertThat(o.times()).isNull());
    assertThat(outcomes).extracting(Outcome::micros).containsOnly(Double.POSITIVE_INFINITY);
    assertThat(Objects.requireNonNull(outcomes.get(0).failure())).endsWith("spills registers");
    assertThat(Objects.requireNonNull(outcomes.get(1).failure())).startsWith("the result is wrong");
  }

  /** A kernel that writes nothing leaves what its results were poisoned with. */
  @Test
  void whatIsNotWrittenIsWrong() {
    fake.skips(KERNEL);
    List<Outcome> outcomes = run();
    assertThat(Objects.requireNonNull(outcomes.get(0).failure())).startsWith("the result is wrong");
    assertThat(outcomes.get(1).failure()).isNull();
  }

  @Test
  void whatCannotBeVerifiedIsRefused() {
    Attention large = Attention.of(1, 64, 8, 128, 8192, 8192, DType.BF16);
    assertThatThrownBy(() -> AttentionBench.requireSmall(large))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("is too much to verify");
  }
}
