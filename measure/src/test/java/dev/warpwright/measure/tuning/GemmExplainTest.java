package dev.warpwright.measure.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.families.tuned.TunedGemm;
import dev.warpwright.ir.type.DType;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.workload.GemmWorkload;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class GemmExplainTest {
  private static final DeviceModel H200 = DeviceCatalogue.find("H200 SXM").orElseThrow();
  private static final GemmWorkload PRODUCT = GemmWorkload.nt(512, 512, 256, DType.BF16);

  /** Fails what is not persistent, is slower the fewer stages there are; by single threads most. */
  private static final class Fake implements Measurer {
    @Override
    public CompletableFuture<Trial> measure(Candidate candidate) {
      Outcome outcome =
          "no".equals(candidate.point().option("persistent"))
              ? new Outcome.Failed(FailureReason.SPILL, "8 bytes")
              : new Outcome.Measured(micros(candidate.point().option("stages")), 0, 0, 0, 0);
      return CompletableFuture.completedFuture(new Trial(candidate, "", outcome));
    }

    private static double micros(@Nullable String stages) {
      return stages == null ? 80 : 20.0 / Integer.parseInt(stages);
    }

    @Override
    public int width() {
      return 1;
    }

    @Override
    public void close() {}
  }

  private static TunedGemm winner(String point) {
    Space space = GemmSpace.of(PRODUCT, H200.target(), H200.sms());
    Space.Drawn drawn = space.replay(Point.parse(point));
    return new TunedGemm(Objects.requireNonNull(drawn.candidate()), TunedGemm.Origin.TUNED);
  }

  @Test
  void eachRowChangesOneDecisionOfTheWinner() throws InterruptedException {
    TunedGemm winner =
        winner(
            "sketch=wgmma tileM=128 consumers=2 tileN=128 tileK=64 minBlocks=1 stages=5 cluster=1x1"
                + " persistent=yes order=row");
    Point point = winner.candidate().point();
    Explanation told =
        new GemmExplain(PRODUCT, H200, "fake", line -> {}).explain(winner, new Fake());
    assertThat(told.measured()).isTrue();
    assertThat(told.winner().timeUs()).isEqualTo(4.0);
    assertThat(told.winner().ratio()).isEqualTo(1.0);
    assertThat(told.rows()).extracting(Explanation.Row::decision).contains("stages", "persistent");
    Explanation.Row cudaCores = told.rows().getFirst();
    assertThat(cudaCores.decision()).isEqualTo("sketch");
    assertThat(cudaCores.to()).isEqualTo("plain");
    assertThat(cudaCores.timeUs()).isEqualTo(80.0);
    assertThat(cudaCores.ratio()).isEqualTo(20.0);
    for (Explanation.Row row : told.rows()) {
      assertThat(row.from()).isEqualTo(point.option(row.decision())).isNotEqualTo(row.to());
      if (!row.point().isEmpty()) {
        Point other = Point.parse(row.point());
        assertThat(other.option(row.decision())).isEqualTo(row.to());
        for (Point.Choice choice : other.choices()) {
          assertThat(
                  choice.name().equals(row.decision())
                      || row.also().containsKey(choice.name())
                      || choice.option().equals(point.option(choice.name())))
              .as("%s in %s", choice, row)
              .isTrue();
        }
      }
      switch (row.decision()) {
        case "stages" -> {
          assertThat(row.timeUs()).isEqualTo(20.0 / Integer.parseInt(row.to()));
          assertThat(row.ratio()).isEqualTo(5.0 / Integer.parseInt(row.to()));
        }
        case "persistent" -> {
          assertThat(row.failure()).isEqualTo("spill: 8 bytes");
          assertThat(row.timeUs()).isNull();
          assertThat(row.facts()).isNotNull();
        }
        default -> {}
      }
    }
    if (CudaCompilers.system().isPresent()) {
      // Compiled in one call, each under its own name.
      assertThat(told.rows())
          .extracting(Explanation.Row::facts)
          .filteredOn(Objects::nonNull)
          .hasSizeGreaterThan(2)
          .allSatisfy(known -> assertThat(Objects.requireNonNull(known).registers()).isPositive());
    }
    Explanation.Facts facts = Objects.requireNonNull(told.winner().facts());
    assertThat(facts.dramBytes()).isEqualTo(2.0 * (2 * 512 * 256 + 512 * 512));
    // 16 tiles, each with two panels of 128 x 256.
    assertThat(facts.l2Bytes()).isEqualTo(16 * 2 * 128 * 256 * 2.0 + 512 * 512 * 2);
    assertThat(facts.bankConflicts()).isZero();
    assertThat(told.json().write())
        .contains("\"measured\": true")
        .contains("\"decision\": \"stages\"");
    assertThat(told.text()).contains("times measured").contains("stages 5 -> 4");
  }

  /**
   * What is said of a kernel without a record is more than its model computes; here all is that.
   */
  @Test
  void predictionsAreOfOneKind() throws InterruptedException {
    Candidate candidate =
        winner("sketch=wgmma tileM=128 consumers=2 tileN=128 tileK=64 minBlocks=1 stages=5")
            .candidate();
    TunedGemm untuned = new TunedGemm(candidate, TunedGemm.Origin.UNTUNED);
    double computed = candidate.features().predictedUs();
    assertThat(untuned.expectedUs()).isBetween(1.05 * computed, 1.1 * computed);
    assertThat(new TunedGemm(candidate, TunedGemm.Origin.TUNED).expectedUs()).isEqualTo(computed);
    Explanation told = new GemmExplain(PRODUCT, H200, "none", line -> {}).explain(untuned, null);
    assertThat(told.winner().timeUs()).isEqualTo(computed);
    assertThat(told.text().lines().filter(line -> line.contains("->")))
        .isNotEmpty()
        .allSatisfy(line -> assertThat(line.indexOf("->")).isLessThan(38));
  }

  /** Conflicts of many steps follow from those of few; no kernel has fewer than none. */
  @Test
  void bankConflictsAreNeverNegative() {
    assertThat(KernelFacts.inSteps(10, 14, 64)).isEqualTo(10 + 4 * 62);
    assertThat(KernelFacts.inSteps(16, 16, 64)).isEqualTo(16);
    assertThat(KernelFacts.inSteps(16, 10, 64)).isNull();
  }
}
