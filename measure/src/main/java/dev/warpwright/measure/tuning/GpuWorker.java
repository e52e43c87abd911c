package dev.warpwright.measure.tuning;

import dev.warpwright.ir.text.IrParser;
import dev.warpwright.measure.GpuCandidateRunner;
import dev.warpwright.measure.OwnJava;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.host.NativeLibraries;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.tune.measure.WorkerLoop;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Main class of the processes that compile and run candidates. */
public final class GpuWorker {
  private static final String NICE = "5";

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

  /**
   * The command that starts one that only compiles. There are as many as cores, and each compiles a
   * few kernels: its Java is not worth optimizing. They step back for what measures, which must not
   * wait for a core between two launches.
   */
  static List<String> compiler(GpuTarget target, long seed) {
    List<String> command = new ArrayList<>();
    NativeLibraries.system()
        .program("nice")
        .ifPresent(nice -> command.addAll(List.of(nice.toString(), "-n", NICE)));
    command.addAll(
        OwnJava.command(
            List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
            System.getProperty("java.class.path"),
            GpuWorker.class.getName(),
            List.of(target.name(), Long.toString(seed))));
    return command;
  }

  /** The command that starts one with the Java of this process and the given classes. */
  public static List<String> command(GpuTarget target, long seed, String classPath) {
    // Small heaps: there are as many workers as cores. What they hold is matrices of one workload.
    return OwnJava.command(
        List.of("-XX:+UseSerialGC"),
        classPath,
        GpuWorker.class.getName(),
        List.of(target.name(), Long.toString(seed)));
  }
}
