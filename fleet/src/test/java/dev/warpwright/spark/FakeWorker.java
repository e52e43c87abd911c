package dev.warpwright.spark;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.tune.measure.CandidateRunner;
import dev.warpwright.tune.measure.WorkerLoop;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;

/** A worker process that writes down what it has measured; on a poisoned executor all is wrong. */
public final class FakeWorker implements CandidateRunner {
  private final Path folder = FakeHost.folder();
  private final String executor = System.getenv().getOrDefault(FakeHost.EXECUTOR, "");

  public static void main(String[] args) throws IOException, InterruptedException {
    WorkerLoop.serve(new IrParser(), new FakeWorker());
  }

  @Override
  public String compile(Kernel kernel, Map<String, Long> values) throws CandidateFailure {
    if ("no compile".equals(kernel.attrs().getString("plant"))) {
      throw new CandidateFailure(
          FailureReason.COMPILE, executor.isEmpty() ? "far away" : "beside a GPU");
    }
    return "hash";
  }

  @Override
  public Outcome.Measured time(Kernel kernel, Map<String, Long> values) throws CandidateFailure {
    if (Files.exists(folder.resolve("poison-" + executor))) {
      throw new CandidateFailure(FailureReason.WRONG, "relative error 0.3");
    }
    if ("anchor".equals(kernel.attrs().getString("plant"))) {
      return new Outcome.Measured(5, 0.01, 1e-7, 1980, 50);
    }
    long x = values.get("x");
    try {
      Thread.sleep(10);
      Files.writeString(
          folder.resolve("measured-" + executor + "-" + ProcessHandle.current().pid()),
          x + " " + executor + "\n",
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return new Outcome.Measured(100 + x, 0.01, 1e-7, 1980, 50);
  }
}
