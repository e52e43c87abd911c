package dev.warpwright.compiler.execute;

import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.CpuDevice;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.Warpwright;
import dev.warpwright.compiler.buffer.TensorBuffer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * What calls from Java cost on the CPU beside the kernels themselves, how threads share a model,
 * and that nothing grows: {@code bench/calls.sh}. Without JMH, which would have to be downloaded:
 * each figure is a median of rounds that were taken in turn.
 */
public final class CallBench {
  private static final int ROUNDS = 101;
  private static final int CALLS = 2_000;
  private static final int THREADS = 8;

  private CallBench() {}

  /**
   * Runs.
   *
   * @param args {@code overhead}, {@code threads} or {@code growth CALLS MODELS}; the model file
   */
  public static void main(String[] args) throws Exception {
    Path file = Path.of(args[args.length - 1]);
    switch (args[0]) {
      case "overhead" -> overhead(file);
      case "threads" -> threads(file);
      case "growth" ->
          growth(file, Integer.parseInt(args[1]), Integer.parseInt(args[2]))
              .forEach(CallBench::say);
      default -> throw new IllegalArgumentException(args[0]);
    }
  }

  private static void say(String line) {
    System.out.println(line);
  }

  /** Work that is timed in rounds. */
  private record Timed(String name, Runnable call, double[] nanos) {
    static Timed of(String name, Runnable call) {
      return new Timed(name, call, new double[ROUNDS]);
    }
  }

  private static void overhead(Path file) {
    ThreadMXBean thread = ManagementFactory.getThreadMXBean();
    try (CpuDevice device = new CpuDevice();
        CompiledModel model = Warpwright.load(file).compile(device);
        Arena arena = Arena.ofConfined()) {
      float[] x = new float[model.inputFeatures()];
      float[] y = new float[model.outputFeatures()];
      Arrays.fill(x, 0.5f);
      model.prepare(1);
      HostWorkspace workspace = (HostWorkspace) model.executable(1).newWorkspace();
      workspace.run(
          1, new TensorBuffer[] {TensorBuffer.of(x)}, new TensorBuffer[] {TensorBuffer.of(y)});
      MemorySegment in = arena.allocate(4L * x.length, 64);
      MemorySegment out = arena.allocate(4L * y.length, 64);
      List<Timed> all =
          List.of(
              Timed.of("the kernels alone", workspace::execute),
              Timed.of("run(float[], float[])", () -> model.run(x, y)),
              Timed.of("run(float[])", () -> model.run(x)),
              Timed.of("run(MemorySegment, MemorySegment) off the heap", () -> model.run(in, out)));
      for (int round = -ROUNDS; round < ROUNDS; round++) {
        for (Timed timed : all) {
          // The thread's own time: what others do with the core meanwhile does not count.
          long start = thread.getCurrentThreadCpuTime();
          for (int i = 0; i < CALLS; i++) {
            timed.call.run();
          }
          double nanos = (thread.getCurrentThreadCpuTime() - start) / (double) CALLS;
          if (round >= 0) {
            timed.nanos[round] = nanos;
          }
        }
      }
      double kernel = HostExecutable.median(all.getFirst().nanos);
      for (Timed timed : all) {
        double median = HostExecutable.median(timed.nanos);
        double[] sorted = timed.nanos.clone();
        Arrays.sort(sorted);
        say(
            String.format(
                Locale.ROOT,
                "%-48s %7.1f ns (%.1f to %.1f)  %+7.1f ns",
                timed.name,
                median,
                sorted[ROUNDS / 10],
                sorted[ROUNDS - 1 - ROUNDS / 10],
                median - kernel));
      }
    }
  }

  private static void threads(Path file) throws Exception {
    try (CpuDevice device = new CpuDevice();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      Model model = Warpwright.load(file);
      List<CompiledModel> own = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        own.add(model.compile(device));
        own.getLast().prepare(1);
      }
      CompiledModel shared = model.compile(device);
      shared.prepare(1);
      double[] ofOne = new double[ROUNDS];
      double[] ofEight = new double[ROUNDS];
      double[] ratios = new double[ROUNDS];
      for (int round = -10; round < ROUNDS; round++) {
        double one = rate(threads, i -> shared);
        double eight = rate(threads, own::get);
        if (round >= 0) {
          ofOne[round] = one;
          ofEight[round] = eight;
          ratios[round] = one / eight;
        }
      }
      say(
          String.format(
              Locale.ROOT,
              "%d threads: one model %.3f M calls/s, a model each %.3f M calls/s, median ratio %.3f",
              THREADS,
              HostExecutable.median(ofOne),
              HostExecutable.median(ofEight),
              HostExecutable.median(ratios)));
      own.forEach(CompiledModel::close);
      shared.close();
    }
  }

  private interface Models {
    CompiledModel of(int thread);
  }

  /** Million calls in a second. */
  private static double rate(ExecutorService threads, Models models) throws Exception {
    List<Callable<Void>> work = new ArrayList<>();
    for (int t = 0; t < THREADS; t++) {
      CompiledModel model = models.of(t);
      float[] x = new float[model.inputFeatures()];
      float[] y = new float[model.outputFeatures()];
      work.add(
          () -> {
            for (int i = 0; i < CALLS; i++) {
              model.run(x, y);
            }
            return null;
          });
    }
    long start = System.nanoTime();
    for (Future<Void> end : threads.invokeAll(work)) {
      end.get();
    }
    return THREADS * CALLS * 1e3 / (System.nanoTime() - start);
  }

  /** The memory of this process after a tenth of the calls and models, and after all. */
  private static List<String> growth(Path file, int calls, int models) {
    List<String> lines = new ArrayList<>();
    Growth growth = new Growth(file);
    growth.calls(calls / 10);
    lines.add(calls / 10 + " calls: " + Growth.memory());
    growth.calls(calls - calls / 10);
    lines.add(calls + " calls: " + Growth.memory());
    growth.models(models / 10);
    lines.add(models / 10 + " models: " + Growth.memory());
    growth.models(models - models / 10);
    lines.add(models + " models: " + Growth.memory());
    return lines;
  }
}
