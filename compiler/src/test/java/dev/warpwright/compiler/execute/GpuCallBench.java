package dev.warpwright.compiler.execute;

import dev.warpwright.base.DeviceError;
import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.GpuDevice;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.Warpwright;
import dev.warpwright.compiler.buffer.DeviceBuffer;
import dev.warpwright.compiler.buffer.DeviceStream;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.Gpu;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What calls from Java cost on a GPU beside a graph that is launched and waited for, whether
 * threads that share a model get their own results, and that nothing grows: {@code bench/calls.sh
 * gpu}.
 */
public final class GpuCallBench {
  private static final int ROUNDS = 51;
  private static final int CALLS = 500;
  private static final int THREADS = 8;

  /** Row counts that threads come with. */
  private static final int ROWS = 3;

  private GpuCallBench() {}

  /**
   * Runs.
   *
   * @param args the model file; calls and models after which memory is looked at
   */
  public static void main(String[] args) throws Exception {
    Model model = Warpwright.load(Path.of(args[0]));
    Gpu gpu = Gpu.find().orElseThrow(() -> new DeviceError("no GPU here"));
    try (GpuDevice device = new GpuDevice(gpu)) {
      say(device.name());
      overhead(model, device, gpu.context());
      threads(model, device);
      growth(model, device, gpu.context(), Integer.parseInt(args[1]), Integer.parseInt(args[2]));
    }
  }

  private static void say(String line) {
    System.out.println(line);
  }

  /** Work that is timed in rounds. */
  private record Timed(String name, Runnable call, double[] micros) {
    static Timed of(String name, Runnable call) {
      return new Timed(name, call, new double[ROUNDS]);
    }
  }

  private static void overhead(Model source, GpuDevice device, CudaContext context) {
    try (CompiledModel model = source.compile(device);
        Arena arena = Arena.ofConfined();
        CudaStream stream = context.newStream()) {
      float[] x = new float[model.inputFeatures()];
      float[] y = new float[model.outputFeatures()];
      Arrays.fill(x, 0.5f);
      MemorySegment in = arena.allocate(4L * x.length, 64);
      MemorySegment out = arena.allocate(4L * y.length, 64);
      in.copyFrom(MemorySegment.ofArray(x));
      CudaExecutable executable = (CudaExecutable) model.executable(1);
      Map<Buffer, CudaBuffer> memory = new HashMap<>(executable.constants());
      int height = executable.compiled().fixedRows().orElse(1);
      Map<Var, Long> scalars = Map.of(executable.compiled().network().rows().var(), (long) height);
      List<Buffer> own = new ArrayList<>(executable.compiled().network().inputs());
      own.addAll(executable.compiled().network().outputs());
      own.addAll(executable.compiled().program().workspace());
      for (Buffer buffer : own) {
        long bytes = HostExecutable.elements(buffer, scalars) * buffer.dtype().bytes();
        memory.put(buffer, context.allocate(Math.max(16, bytes)));
      }
      CudaBuffer input = memory.get(executable.compiled().network().inputs().getFirst());
      CudaBuffer output = memory.get(executable.compiled().network().outputs().getFirst());
      CudaLaunches raw = CudaLaunches.prepare(executable, memory, scalars);
      raw.enqueue(stream);
      stream.synchronize();
      raw.capture(stream);
      try (DeviceBuffer deviceIn = device(context, model, true, height);
          DeviceBuffer deviceOut = device(context, model, false, height);
          DeviceStream queue = device.newStream()) {
        int[] given = {0};
        deviceIn.copyFrom(MemorySegment.ofArray(Arrays.copyOf(x, height * x.length)));
        List<Timed> all =
            List.of(
                Timed.of(
                    "a graph, launched and waited for",
                    () -> {
                      raw.give(stream);
                      stream.synchronize();
                    }),
                Timed.of(
                    "the same between copies from and to arrays",
                    () -> {
                      input.copyFrom(MemorySegment.ofArray(x), stream);
                      raw.give(stream);
                      output.copyTo(MemorySegment.ofArray(y), stream);
                      stream.synchronize();
                    }),
                Timed.of(
                    "run(DeviceBuffer, DeviceBuffer)", () -> model.run(1, deviceIn, deviceOut)),
                Timed.of(
                    "enqueue(stream, DeviceBuffer, DeviceBuffer), waited for",
                    () -> {
                      model.enqueue(queue, 1, deviceIn, deviceOut);
                      queue.synchronize();
                    }),
                Timed.of(
                    "a tenth of ten of them, waited for once",
                    () -> {
                      model.enqueue(queue, 1, deviceIn, deviceOut);
                      if (++given[0] % 10 == 0) {
                        queue.synchronize();
                      }
                    }),
                Timed.of("run(float[], float[])", () -> model.run(x, y)),
                Timed.of(
                    "run(MemorySegment, MemorySegment) off the heap", () -> model.run(in, out)));
        for (int round = -ROUNDS; round < ROUNDS; round++) {
          for (int nth = 0; nth < all.size(); nth++) {
            // In rotating order, so that none always follows the same one.
            Timed timed = all.get((nth + round + ROUNDS) % all.size());
            long start = System.nanoTime();
            for (int i = 0; i < CALLS; i++) {
              timed.call.run();
            }
            double micros = (System.nanoTime() - start) * 1e-3 / CALLS;
            if (round >= 0) {
              timed.micros[round] = micros;
            }
          }
        }
        double least = HostExecutable.median(all.getFirst().micros.clone());
        for (Timed timed : all) {
          double[] sorted = timed.micros.clone();
          Arrays.sort(sorted);
          say(
              String.format(
                  Locale.ROOT,
                  "%-48s %7.2f us (%.2f to %.2f)  %+7.2f us",
                  timed.name,
                  sorted[ROUNDS / 2],
                  sorted[ROUNDS / 10],
                  sorted[ROUNDS - 1 - ROUNDS / 10],
                  sorted[ROUNDS / 2] - least));
        }
      } finally {
        raw.close();
        own.forEach(buffer -> memory.get(buffer).close());
      }
    }
  }

  private static DeviceBuffer device(
      CudaContext context, CompiledModel model, boolean input, int height) {
    return DeviceBuffer.onGpu(
        context,
        input ? model.inputType(0, 1) : model.outputType(0, 1),
        (long) height * (input ? model.inputFeatures() : model.outputFeatures()));
  }

  /** What a thread computes, and what must come out. */
  private record Work(List<float[]> in, List<float[]> expected) {}

  private static void threads(Model source, GpuDevice device) throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<CompiledModel> own = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        own.add(source.compile(device));
      }
      CompiledModel shared = source.compile(device);
      List<Work> work = new ArrayList<>();
      Random random = new Random(1);
      for (int t = 0; t < THREADS; t++) {
        Work each = new Work(new ArrayList<>(), new ArrayList<>());
        for (int rows = 1; rows <= ROWS; rows++) {
          float[] x = new float[rows * shared.inputFeatures()];
          for (int i = 0; i < x.length; i++) {
            x[i] = random.nextFloat();
          }
          each.in.add(x);
          each.expected.add(shared.run(x));
        }
        work.add(each);
      }
      AtomicLong wrong = new AtomicLong();
      double[] ofOne = new double[ROUNDS];
      double[] ofEight = new double[ROUNDS];
      double[] ratios = new double[ROUNDS];
      for (int round = -5; round < ROUNDS; round++) {
        double one = rate(threads, i -> shared, work, wrong);
        double eight = rate(threads, own::get, work, wrong);
        if (round >= 0) {
          ofOne[round] = one;
          ofEight[round] = eight;
          ratios[round] = one / eight;
        }
      }
      say(
          String.format(
              Locale.ROOT,
              "%d threads: one model %.4f M calls/s, a model each %.4f M calls/s, median ratio %.3f,"
                  + " %d wrong results",
              THREADS,
              HostExecutable.median(ofOne),
              HostExecutable.median(ofEight),
              HostExecutable.median(ratios),
              wrong.get()));
      say(THREADS + " threads, a stream each: " + streams(threads, device, shared, work));
      own.forEach(CompiledModel::close);
      shared.close();
    }
  }

  /** Calls of one model on streams of several threads, several of a stream under way at once. */
  private static String streams(
      ExecutorService threads, GpuDevice device, CompiledModel model, List<Work> work)
      throws Exception {
    int deep = 4;
    AtomicLong wrong = new AtomicLong();
    List<Callable<Void>> calls = new ArrayList<>();
    for (Work own : work) {
      calls.add(
          () -> {
            try (DeviceStream queue = device.newStream()) {
              List<DeviceBuffer> in = new ArrayList<>();
              List<DeviceBuffer> out = new ArrayList<>();
              for (int i = 0; i < deep; i++) {
                in.add(device.allocate(DType.F32, (long) ROWS * model.inputFeatures()));
                out.add(device.allocate(DType.F32, (long) ROWS * model.outputFeatures()));
              }
              for (int round = 0; round < CALLS; round++) {
                for (int i = 0; i < deep; i++) {
                  int rows = (round + i) % ROWS;
                  in.get(i).copyFrom(MemorySegment.ofArray(own.in.get(rows)), queue);
                  model.enqueue(queue, rows + 1, in.get(i), out.get(i));
                }
                for (int i = 0; i < deep; i++) {
                  float[] expected = own.expected.get((round + i) % ROWS);
                  float[] result = new float[expected.length];
                  out.get(i).copyTo(MemorySegment.ofArray(result), queue);
                  if (!Arrays.equals(result, expected)) {
                    wrong.incrementAndGet();
                  }
                }
              }
              in.forEach(DeviceBuffer::close);
              out.forEach(DeviceBuffer::close);
            }
            return null;
          });
    }
    for (Future<Void> end : threads.invokeAll(calls)) {
      end.get();
    }
    return wrong.get() + " wrong of " + THREADS * CALLS * deep;
  }

  private interface Models {
    CompiledModel of(int thread);
  }

  /** Million calls in a second; results that differ from those of one thread are counted. */
  private static double rate(
      ExecutorService threads, Models models, List<Work> work, AtomicLong wrong) throws Exception {
    List<Callable<Void>> calls = new ArrayList<>();
    for (int t = 0; t < THREADS; t++) {
      CompiledModel model = models.of(t);
      Work own = work.get(t);
      calls.add(
          () -> {
            float[][] y = new float[ROWS][];
            Arrays.setAll(y, i -> new float[own.expected.get(i).length]);
            for (int i = 0; i < CALLS; i++) {
              float[] result = y[i % ROWS];
              Arrays.fill(result, Float.NaN);
              model.run(own.in.get(i % ROWS), result);
              if (!Arrays.equals(result, own.expected.get(i % ROWS))) {
                wrong.incrementAndGet();
              }
            }
            return null;
          });
    }
    long start = System.nanoTime();
    for (Future<Void> end : threads.invokeAll(calls)) {
      end.get();
    }
    return THREADS * CALLS * 1e3 / (System.nanoTime() - start);
  }

  private static void growth(
      Model source, GpuDevice device, CudaContext context, int calls, int models) {
    for (int part : new int[] {calls / 10, calls - calls / 10}) {
      try (CompiledModel model = source.compile(device)) {
        float[][] x = new float[ROWS][];
        Arrays.setAll(x, i -> new float[(i + 1) * model.inputFeatures()]);
        for (int i = 0; i < part; i++) {
          model.run(x[i % ROWS]);
        }
      }
      say(part + " more calls: " + memory(context));
    }
    // Ten times: what is touched once grows at first, what is lost grows evenly.
    for (int tenth = 1; tenth <= 10; tenth++) {
      for (int i = 0; i < models / 10; i++) {
        try (CompiledModel model = source.compile(device)) {
          model.run(new float[model.inputFeatures()]);
        }
      }
      say(tenth * (models / 10) + " models: " + memory(context));
    }
  }

  private static String memory(CudaContext context) {
    for (int i = 0; i < 4; i++) {
      System.gc();
    }
    Runtime runtime = Runtime.getRuntime();
    return (runtime.totalMemory() - runtime.freeMemory() >> 10)
        + " KiB of heap, "
        + Growth.resident()
        + " of the process, "
        + ((context.device().memoryBytes() - context.freeBytes()) >> 10)
        + " KiB of the device in use";
  }
}
