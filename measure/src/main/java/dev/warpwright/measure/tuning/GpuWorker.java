package dev.warpwright.measure.tuning;

import dev.warpwright.ir.text.IrParser;
import dev.warpwright.measure.GpuCandidateRunner;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.tune.measure.WorkerLoop;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Main class of the processes that compile and run candidates. */
public final class GpuWorker {
  private GpuWorker() {}

  /**
   * Serves.
   *
   * @param args the target's name and the seed of the random data
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    GpuTarget target = GpuTarget.find(args[0]).orElseThrow();
    WorkerLoop.serve(
        new IrParser(Intrinsics::find), new GpuCandidateRunner(target, Long.parseLong(args[1])));
  }

  /** The command that starts one with the Java and the classes of this process. */
  static List<String> command(GpuTarget target, long seed) {
    return command(target, seed, System.getProperty("java.class.path"));
  }

  /** The command that starts one with the Java of this process and the given classes. */
  public static List<String> command(GpuTarget target, long seed, String classPath) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // Small heaps: there are as many workers as cores. What they hold is matrices of one workload.
    command.addAll(
        List.of(
            "-XX:+UseSerialGC",
            "-Xlog:disable",
            "-XX:-UsePerfData",
            "--add-modules=jdk.incubator.vector",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            classPath,
            GpuWorker.class.getName(),
            target.name(),
            Long.toString(seed)));
    return command;
  }
}
