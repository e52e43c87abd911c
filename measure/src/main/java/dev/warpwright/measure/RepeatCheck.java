package dev.warpwright.measure;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.measure.reference.BenchMemory;
import dev.warpwright.measure.timing.KernelReport;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaGraph;
import dev.warpwright.runtime.cuda.CudaLaunch;
import dev.warpwright.runtime.cuda.CudaModule;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.runtime.launch.GridLauncher;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Launches a kernel many times on one set of inputs, poisons what it has to write before each
 * launch, and compares each result on the device with the verified one.
 */
final class RepeatCheck implements AutoCloseable {
  private static final int BATCH = 100;

  private final BenchMemory memory;
  private final CudaStream stream;
  private final CudaLaunch kernel;
  private final CudaModule module;
  private final CudaLaunch comparison;
  private final CudaBuffer counters;

  /**
   * @param kernel on set 0, whose result is verified and there
   * @param compare see {@link OutputComparison}
   */
  RepeatCheck(
      BoundWorkload workload,
      BenchMemory memory,
      Gpu device,
      CudaStream stream,
      CudaLaunch kernel,
      Kernel compare) {
    this.memory = memory;
    this.stream = stream;
    this.kernel = kernel;
    GpuTarget target = (GpuTarget) device.target();
    module =
        device
            .context()
            .load(CudaCompilers.compile(CudaPrinter.print(compare, target), target).bytes());
    CudaBuffer result = memory.get(0, workload.result());
    CudaBuffer verified = memory.allocate(result.bytes());
    verified.copyFrom(result, stream);
    counters = memory.allocate(4L * OutputComparison.THREADS);
    List<Buffer> params = compare.buffers();
    comparison =
        GridLauncher.of(compare, module)
            .prepare(
                Map.of(params.get(0), result, params.get(1), verified, params.get(2), counters),
                Map.of());
  }

  /**
   * Runs.
   *
   * @param busy gives other work to a stream of its own before each launch
   * @param other that stream
   */
  List<KernelReport.Repeats> run(int runs, Runnable busy, CudaStream other) {
    List<KernelReport.Repeats> repeats = new ArrayList<>();
    repeats.add(new KernelReport.Repeats("one by one", runs, mismatches(runs, this::once)));
    try (CudaGraph graph =
        CudaGraph.capture(
            stream,
            () -> {
              for (int i = 0; i < BATCH; i++) {
                once();
              }
            })) {
      int replays = Math.ceilDiv(runs, BATCH);
      repeats.add(
          new KernelReport.Repeats(
              "graph replay", replays * BATCH, mismatches(replays, () -> graph.replay(stream))));
    }
    repeats.add(
        new KernelReport.Repeats(
            "second stream busy",
            runs,
            mismatches(
                runs,
                () -> {
                  busy.run();
                  once();
                })));
    other.synchronize();
    return repeats;
  }

  private void once() {
    memory.poison(0);
    kernel.run(stream);
    comparison.run(stream);
  }

  private long mismatches(int times, Runnable work) {
    counters.poison((byte) 0, stream);
    for (int i = 0; i < times; i++) {
      work.run();
      if (i % BATCH == BATCH - 1) {
        stream.synchronize();
      }
    }
    int[] counts = new int[OutputComparison.THREADS];
    counters.copyTo(MemorySegment.ofArray(counts), stream);
    return Arrays.stream(counts).mapToLong(Integer::toUnsignedLong).sum();
  }

  @Override
  public void close() {
    module.close();
  }
}
