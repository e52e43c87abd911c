package dev.warpwright.tune;

import dev.warpwright.space.Candidate;
import dev.warpwright.space.Spaces;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.tune.measure.Measurer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Outcomes from a function, at once. */
public final class FakeMeasurer implements Measurer {
  private final int width;
  private final Function<Candidate, Outcome> outcome;
  final List<Candidate> measured = new ArrayList<>();
  final List<Candidate> prepared = new ArrayList<>();
  final List<Candidate> ahead = new ArrayList<>();

  public FakeMeasurer(int width, Function<Candidate, Outcome> outcome) {
    this.width = width;
    this.outcome = outcome;
  }

  /** Of {@link Spaces#big()}: best 10 at x = (5, 9, 3). */
  static Outcome bigTime(Candidate candidate) {
    double[] x = candidate.features().values();
    return new Outcome.Measured(
        candidate.features().predictedUs() * (1 + Math.abs(x[2] - 3) / 4), 0.01, 1e-3, 0, 0);
  }

  @Override
  public CompletableFuture<Trial> measure(Candidate candidate) {
    measured.add(candidate);
    return CompletableFuture.completedFuture(
        new Trial(candidate, "hash", outcome.apply(candidate)));
  }

  @Override
  public Ahead ahead(Candidate candidate) {
    ahead.add(candidate);
    return () -> measure(candidate);
  }

  @Override
  public void prepare(Candidate first) {
    prepared.add(first);
  }

  @Override
  public int width() {
    return width;
  }

  @Override
  public void close() {}
}
