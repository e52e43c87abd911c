package dev.warpwright.cli.fusion;

import dev.warpwright.base.DeepStack;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.cli.tuning.TuningDevice;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.measure.OwnJava;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.tune.measure.ProcessMeasurer;
import dev.warpwright.tune.measure.WorkerLoop;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Main class of the processes that compile and run the alternatives of a network. */
public final class NetworkWorker {
  private static final Duration COMPILE_LIMIT = Duration.ofSeconds(120);
  private static final Duration TIME_LIMIT = Duration.ofSeconds(60);

  /** Of each compiler a process makes the network again: more would not be worth their start. */
  private static final int MOST_COMPILERS = 8;

  private NetworkWorker() {}

  /**
   * Serves.
   *
   * @param args the target's name, the file of records, the architecture of weights or nothing, and
   *     the task's words
   */
  public static void main(String[] args) {
    GpuTarget target = GpuTarget.find(args[0]).orElseThrow();
    NetworkTask task =
        NetworkTask.of(
            args[3],
            new KeyValues(List.of(args).subList(4, args.length)),
            args[2].isEmpty() ? null : args[2]);
    NetworkCandidates candidates =
        TuningDevice.look()
            .filter(here -> here.target() == target)
            .map(here -> NetworkCandidates.on(here, task, Path.of(args[1])))
            .orElseGet(() -> new NetworkCandidates(task, target));
    DeepStack.call(
        () -> {
          serve(new NetworkRunner(task, target, candidates));
          return 0;
        });
  }

  private static void serve(NetworkRunner runner) {
    try {
      WorkerLoop.serve(new IrParser(Intrinsics::find), runner);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Workers on the first GPU of the target: one that times, and some that compile. */
  static Measurer measurer(NetworkTask task, GpuTarget target, Path records) {
    int compilers = Math.clamp(Runtime.getRuntime().availableProcessors() / 2, 1, MOST_COMPILERS);
    return new ProcessMeasurer(
        new ProcessMeasurer.Setup(
            command(task, target, records),
            compilers,
            List.of(Map.of()),
            COMPILE_LIMIT,
            TIME_LIMIT));
  }

  /** The command that starts one with the Java and the classes of this process. */
  static List<String> command(NetworkTask task, GpuTarget target, Path records) {
    List<String> arguments = new ArrayList<>();
    arguments.addAll(
        List.of(
            target.name(),
            records.toAbsolutePath().toString(),
            task.arch() == null ? "" : task.arch(),
            task.what()));
    arguments.addAll(task.words());
    return OwnJava.command(
        List.of("-XX:+UseSerialGC"),
        System.getProperty("java.class.path"),
        NetworkWorker.class.getName(),
        arguments);
  }
}
