package dev.warpwright.measure;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.files.AtomicFile;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.measure.baseline.CublasBaseline;
import dev.warpwright.measure.cublas.Cublas;
import dev.warpwright.measure.reference.BenchMemory;
import dev.warpwright.measure.reference.DeviceReference;
import dev.warpwright.measure.reference.OutputError;
import dev.warpwright.measure.timing.InterleavedTimer;
import dev.warpwright.measure.timing.KernelReport;
import dev.warpwright.measure.timing.TimedWork;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaLaunch;
import dev.warpwright.runtime.cuda.CudaModule;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.runtime.launch.GridLauncher;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.kernel.BoundKernel;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs several kernels of one workload on the same random data: the whole result of each is
 * verified before and after it is timed, in turn with cuBLAS.
 */
public final class KernelSeries {
  private static final long CUBLAS_WORKSPACE = 64L << 20;

  /**
   * One kernel's outcome.
   *
   * @param timeUs of a launch, back to back with others; NaN if the result is wrong
   * @param baselineUs cuBLAS, measured in turn; NaN if it is not installed
   * @param relError ‖out − reference‖ / ‖reference‖, the worse of before and after timing
   * @param failure why there is no time; null if all is well
   */
  public record Result(
      int registers, double timeUs, double baselineUs, double relError, @Nullable String failure) {}

  private final Gpu device;
  private final CudaStream stream;
  private final BenchMemory memory;
  private final DeviceReference reference;
  private final BoundWorkload workload;
  private final int rounds;

  private KernelSeries(
      Gpu device,
      CudaStream stream,
      BenchMemory memory,
      DeviceReference reference,
      BoundWorkload workload,
      int rounds) {
    this.device = device;
    this.stream = stream;
    this.memory = memory;
    this.reference = reference;
    this.workload = workload;
    this.rounds = rounds;
  }

  /**
   * Runs.
   *
   * @param kernels of one workload and shape, which name their buffers alike
   * @param rounds of timing
   * @param done is told of each result when it is there
   */
  public static List<Result> run(
      List<Kernel> kernels, Gpu device, long seed, int rounds, Consumer<String> done) {
    BoundKernel bound = BoundKernel.of(kernels.getFirst(), Map.of());
    List<Result> results = new ArrayList<>();
    try (CudaStream stream = device.context().newStream();
        BenchMemory memory = new BenchMemory(bound, device.context(), stream, seed);
        DeviceReference reference = new DeviceReference(bound.workload(), memory, device, stream)) {
      reference.compute(0, seed);
      KernelSeries series =
          new KernelSeries(device, stream, memory, reference, bound.workload(), rounds);
      @Nullable Cublas cublas = Cublas.open(stream).orElse(null);
      try {
        CublasBaseline baseline = null;
        if (cublas != null) {
          cublas.setWorkspace(memory.allocate(CUBLAS_WORKSPACE));
          baseline = new CublasBaseline(bound.workload(), memory, cublas);
          series.check(baseline);
        }
        for (Kernel kernel : kernels) {
          Result result = series.measure(kernel, baseline);
          done.accept(series.text(kernel, result));
          results.add(result);
        }
      } finally {
        if (cublas != null) {
          cublas.close();
        }
      }
    }
    return results;
  }

  /**
   * Launches each kernel once, for a profiler to watch.
   *
   * @param sources folder for the sources, whose lines the machine code then names; null for none
   */
  public static void launch(List<Kernel> kernels, Gpu device, long seed, @Nullable Path sources) {
    BoundKernel bound = BoundKernel.of(kernels.getFirst(), Map.of());
    try (CudaStream stream = device.context().newStream();
        BenchMemory memory = new BenchMemory(bound, device.context(), stream, seed)) {
      GpuTarget target = (GpuTarget) device.target();
      for (Kernel kernel : kernels) {
        Cubin cubin = withLines(kernel, target, sources);
        try (CudaModule module = device.context().load(cubin.bytes())) {
          GridLauncher.of(kernel, module).prepare(buffers(kernel, memory, 0), Map.of()).run(stream);
          stream.synchronize();
        }
      }
    }
  }

  /** Machine code that names the lines of a source that is there to be read. */
  private static Cubin withLines(Kernel kernel, GpuTarget target, @Nullable Path sources) {
    String source = CudaPrinter.print(kernel, target);
    if (sources == null) {
      return CudaCompilers.compile(source, target);
    }
    Path folder = sources.toAbsolutePath();
    String name = kernel.name() + ".cu";
    AtomicFile.writeAll(folder, Map.of(name, source.getBytes(StandardCharsets.UTF_8)));
    Path file = folder.resolve(name);
    String named = "#line 1 \"" + file.toString().replace("\\", "/") + "\"\n" + source;
    return CudaCompilers.compile(new CompileRequest(named, target.name(), List.of("-lineinfo")));
  }

  private void check(CublasBaseline baseline) {
    baseline.enqueue(0);
    stream.synchronize();
    if (!CublasBaseline.isWhole(workload)) {
      return;
    }
    OutputError error = reference.error(baseline.result(0));
    if (!error.within(workload.tolerance())) {
      throw new DeviceError("the result of " + baseline.name() + " is wrong: " + why(error));
    }
  }

  private Result measure(Kernel kernel, @Nullable CublasBaseline baseline) {
    GpuTarget target = (GpuTarget) device.target();
    Cubin cubin = CudaCompilers.compile(CudaPrinter.print(kernel, target), target);
    try (CudaModule module = device.context().load(cubin.bytes())) {
      GridLauncher launcher = GridLauncher.of(kernel, module);
      int registers = launcher.function().registers();
      List<CudaLaunch> launches = new ArrayList<>();
      for (int set = 0; set < memory.count(); set++) {
        launches.add(launcher.prepare(buffers(kernel, memory, set), Map.of()));
      }
      memory.poison(0);
      launches.getFirst().run(stream);
      OutputError first = error();
      if (!first.within(workload.tolerance())) {
        return new Result(
            registers, Double.NaN, Double.NaN, relative(first), "wrong result: " + why(first));
      }
      List<TimedWork> timed = new ArrayList<>();
      timed.add(new TimedWork("ours", set -> launches.get(set).run(stream)));
      if (baseline != null) {
        timed.add(new TimedWork(baseline.name(), baseline::enqueue));
      }
      memory.poison(0);
      List<KernelReport.Times> times =
          new InterleavedTimer(device.context(), stream, memory.count(), rounds, 0).measure(timed);
      OutputError after = error();
      boolean right = after.within(workload.tolerance());
      return new Result(
          registers,
          right ? times.getFirst().graphUs() : Double.NaN,
          times.size() > 1 ? times.getLast().graphUs() : Double.NaN,
          Math.max(relative(first), relative(after)),
          right ? null : "wrong result of the timed launches: " + why(after));
    }
  }

  private OutputError error() {
    stream.synchronize();
    return reference.error(memory.get(0, workload.result()));
  }

  private String why(OutputError error) {
    Buffer result = workload.result();
    return error.why(workload.tolerance(), result.extent(result.rank() - 1));
  }

  private static double relative(OutputError error) {
    return error.nonFinite() > 0 ? Double.POSITIVE_INFINITY : error.relative();
  }

  /** The memory of a set for this kernel's buffers, which are those of the workload by name. */
  private static Map<Buffer, CudaBuffer> buffers(Kernel kernel, BenchMemory memory, int set) {
    Map<String, CudaBuffer> byName = new HashMap<>();
    memory.set(set).forEach((buffer, at) -> byName.put(buffer.name(), at));
    Map<Buffer, CudaBuffer> result = new HashMap<>();
    for (Buffer buffer : kernel.buffers()) {
      CudaBuffer at = byName.get(buffer.name());
      if (at == null) {
        throw new IllegalArgumentException(kernel.name() + " has another buffer, " + buffer);
      }
      result.put(buffer, at);
    }
    return result;
  }

  private String text(Kernel kernel, Result result) {
    return String.format(
        Locale.ROOT,
        "%s: %.1f us, %.2f TFLOP/s, relative error %.1e%s",
        kernel.name(),
        result.timeUs(),
        workload.flops() / result.timeUs() * 1e-6,
        result.relError(),
        result.failure() == null ? "" : ", " + result.failure());
  }
}
