package dev.warpwright.tune.measure;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import java.io.IOException;
import java.util.Map;

/** A worker whose kernels do what their attribute {@code plant} says. */
public final class MutantRunner implements CandidateRunner {
  public static void main(String[] args) throws IOException, InterruptedException {
    WorkerLoop.serve(new IrParser(), new MutantRunner());
  }

  @Override
  public String compile(Kernel kernel, Map<String, Long> values) throws CandidateFailure {
    System.out.println("noise that must not be taken for a reply");
    return switch (plant(kernel)) {
      case "no compile" -> throw new CandidateFailure(FailureReason.COMPILE, "line 3: what?");
      case "slow compile" -> forever();
      default -> "hash of " + kernel.name();
    };
  }

  @Override
  public void prepare(Kernel kernel, Map<String, Long> values) throws CandidateFailure {
    switch (plant(kernel)) {
      case "unprepared" -> throw new CandidateFailure(FailureReason.COMPILE, "no reference");
      case "dies prepared" -> Runtime.getRuntime().halt(135);
      default -> {}
    }
  }

  @Override
  public Ready ready(Kernel kernel, Map<String, Long> values) {
    boolean ahead = Thread.currentThread().getName().equals("ahead");
    return switch (plant(kernel)) {
      case "not ahead" -> {
        if (ahead) {
          throw new IllegalStateException("a bug that comes and goes");
        }
        yield () -> time(kernel, values);
      }
      case "ahead", "ahead too" ->
          () -> new Outcome.Measured(ahead ? 100 : 200, 0.01, 1e-7, 1980, 50);
      default -> () -> time(kernel, values);
    };
  }

  @Override
  public void open() {
    throw new IllegalStateException("no device yet");
  }

  @Override
  public Phases phases() {
    return new Phases(1, 2, 4);
  }

  @Override
  public Outcome.Measured time(Kernel kernel, Map<String, Long> values) throws CandidateFailure {
    switch (plant(kernel)) {
      case "hang" -> forever();
      case "fault" -> throw new CandidateFailure(FailureReason.FAULT, "illegal address", true);
      case "wrong" -> throw new CandidateFailure(FailureReason.WRONG, "relative error 0.3");
      case "die" -> {
        System.err.println("about to die");
        Runtime.getRuntime().halt(134);
      }
      case "bug" -> throw new IllegalStateException("a bug\nof two lines");
      default -> {}
    }
    return new Outcome.Measured(values.getOrDefault("time", 1L), 0.01, 1e-7, 1980, 50);
  }

  private static String plant(Kernel kernel) {
    String plant = kernel.attrs().getString("plant");
    return plant == null ? "" : plant;
  }

  private static String forever() {
    while (true) {
      Thread.onSpinWait();
    }
  }
}
