package dev.warpwright.cli.tuning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.compiler.tune.GemmKeys;
import dev.warpwright.compiler.tune.GemmTuning;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.Tuner;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.tune.measure.Outcome;
import dev.warpwright.tune.record.Environment;
import dev.warpwright.tune.record.TuningDatabase;
import dev.warpwright.tune.space.Candidate;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TuneActionTest {
  private static final Environment ENVIRONMENT =
      new Environment("sm_90a", "fake", "1.0", "none", "test");

  @TempDir private Path folder;

  /** Measures at once, but nothing while {@code broken}. */
  private record Fake(boolean broken, Set<String> threads) implements Measurer {
    @Override
    public CompletableFuture<Trial> measure(Candidate candidate) {
      threads.add(Thread.currentThread().getName());
      if (broken) {
        throw new IllegalStateException("planted");
      }
      return CompletableFuture.completedFuture(
          new Trial(
              candidate,
              "hash",
              new Outcome.Measured(candidate.features().predictedUs(), 0, 0, 0, 0)));
    }

    @Override
    public int width() {
      return 2;
    }

    @Override
    public void close() {}
  }

  private static TuneRequest.Search search(String shape) {
    return new TuneRequest.Search(
        Products.of("gemm", new KeyValues(List.of(shape)), null),
        new GemmTuning.Options(
            new Tuner.Limits(6, 60), GemmTuning.Search.RANDOM, false, false, false, 1));
  }

  @Test
  void aSearchThatFailsEndsNoOther() {
    Set<String> threads = ConcurrentHashMap.newKeySet();
    Path file = folder.resolve("tuning.db");
    List<TuneRequest.Search> searches =
        List.of(search("MNK=256"), search("MNK=512"), search("MNK=1024"), search("MNK=2048"));
    TuneAction action =
        new TuneAction(
            () -> new TuningDevice("fake", 132, GpuTarget.SM_90A, ENVIRONMENT),
            (target, most) -> {
              assertThat(most).isEqualTo(4);
              return List.of(new Fake(true, threads), new Fake(false, threads));
            });
    TuneRequest request = new TuneRequest(searches, file, folder, 9);
    assertThatThrownBy(() -> action.perform(request, line -> {})).hasMessageContaining("planted");
    try (TuningDatabase database = TuningDatabase.open(file)) {
      long tuned =
          searches.stream()
              .map(search -> search.products().workloads().getFirst())
              .filter(w -> !database.records(GemmKeys.of(w), ENVIRONMENT).isEmpty())
              .count();
      assertThat(tuned).isPositive();
    }
    assertThat(threads).hasSize(2);
  }
}
