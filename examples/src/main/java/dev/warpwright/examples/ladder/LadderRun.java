package dev.warpwright.examples.ladder;

import dev.warpwright.base.UserError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.KernelBench;
import dev.warpwright.measure.KernelSeries;
import dev.warpwright.measure.timing.KernelReport;
import dev.warpwright.perf.LowerBounds;
import dev.warpwright.perf.RooflineBound;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import dev.warpwright.verify.KernelRegisters;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Measures the rungs on a GPU, or predicts them. */
public final class LadderRun {

  /** Part of the rate of tensor cores that products reach; those of warps less on Hopper. */
  private static final double TENSOR_EFFICIENCY = 0.75;

  private static final double WARPS_ON_HOPPER = 0.4;

  /** Until the first tiles have come, and the last ones are stored. */
  private static final double FILLING_US = 3;

  private final long m;
  private final long n;
  private final long k;
  private final DType dtype;
  private final DeviceModel model;

  /**
   * A run for one shape.
   *
   * @param dtype f32 or f64, of the rungs without tensor cores
   * @param model of the device that is used, or whose times are predicted
   */
  public LadderRun(long m, long n, long k, DType dtype, DeviceModel model) {
    this.dtype = dtype;
    this.m = m;
    this.n = n;
    this.k = k;
    this.model = model;
  }

  /** Times from the model alone. */
  public List<RungReport> predict(List<Rung> rungs, Consumer<String> progress) {
    // The compiler's processes take nearly all of the time: as many at once as there are cores.
    return rungs.parallelStream()
        .map(
            rung -> {
              synchronized (progress) {
                progress.accept("predicting " + rung.name());
              }
              return possible(rung, kernel -> predict(rung, kernel, registers(kernel)));
            })
        .toList();
  }

  /** As {@link #predict}, with registers estimated: nothing is compiled. */
  public List<RungReport> estimate(List<Rung> rungs) {
    return rungs.stream()
        .map(
            rung ->
                possible(rung, kernel -> predict(rung, kernel, KernelRegisters.estimate(kernel))))
        .toList();
  }

  /** Times of a GPU, each verified. */
  public List<RungReport> measure(
      List<Rung> rungs, Gpu device, long seed, int rounds, Consumer<String> progress) {
    GpuTarget target = (GpuTarget) device.target();
    List<Kernel> kernels = new ArrayList<>();
    for (Rung rung : rungs) {
      if (whyNot(rung, target) == null) {
        kernels.add(Ladder.kernel(rung, dtype, m, n, k));
      }
    }
    List<KernelSeries.Result> results =
        kernels.isEmpty() ? List.of() : KernelSeries.run(kernels, device, seed, rounds, progress);
    List<RungReport> reports = new ArrayList<>();
    int next = 0;
    for (Rung rung : rungs) {
      String why = whyNot(rung, target);
      if (why != null) {
        reports.add(RungReport.missing(rung.name(), rung.change(), dtype, least(dtype), why));
        continue;
      }
      KernelSeries.Result result = results.get(next++);
      Kernel kernel = Ladder.kernel(rung, dtype, m, n, k);
      RungReport predicted = predict(rung, kernel, result.registers());
      reports.add(
          new RungReport(
              rung.name(),
              rung.change(),
              dtype,
              result.timeUs(),
              result.baselineUs(),
              gflops(result.timeUs()),
              predicted.predictedUs(),
              least(dtype),
              result.relError(),
              false,
              result.registers(),
              predicted.sharedBytes(),
              predicted.occupancy(),
              predicted.dramBytes(),
              predicted.l2Bytes(),
              predicted.conflicts(),
              predicted.bound(),
              result.failure()));
    }
    return reports;
  }

  /** As {@link #predict}, for rungs on tensor cores: the greater of rate and bandwidth. */
  public List<RungReport> predictTensor(List<TensorRung> rungs) {
    return rungs.parallelStream()
        .map(rung -> possible(rung, kernel -> predict(rung, kernel, registers(kernel))))
        .toList();
  }

  /** What is said of a rung's kernel, or why there is none on the device. */
  public RungReport possible(Rung rung, Function<Kernel, RungReport> report) {
    String why = whyNot(rung, model.target());
    return why == null
        ? report.apply(Ladder.kernel(rung, dtype, m, n, k))
        : RungReport.missing(rung.name(), rung.change(), dtype, least(dtype), why);
  }

  /** What is said of a rung's kernel, or why there is none on the device or for the shape. */
  public RungReport possible(TensorRung rung, Function<Kernel, RungReport> report) {
    return rung.runsOn(model.target())
        ? tensor(rung, () -> report.apply(kernel(rung, model.target(), model.sms())))
        : missing(rung, model.target());
  }

  private RungReport missing(TensorRung rung, GpuTarget target) {
    return RungReport.missing(
        rung.text(), rung.change(), DType.BF16, least(DType.BF16), rung.whyNot(target));
  }

  /** Why a target does not have what the kernel needs, or null. */
  private @Nullable String whyNot(Rung rung, GpuTarget target) {
    Kernel kernel = Ladder.kernel(rung, dtype, m, n, k);
    try {
      CudaPrinter.print(kernel, target);
    } catch (UserError e) {
      return e.getMessage();
    }
    long shared = KernelResources.of(kernel).sharedBytes();
    return shared > target.sharedPerBlock()
        ? String.format(
            Locale.ROOT,
            "a block needs %d bytes of shared memory, %s has %d",
            shared,
            target.name(),
            target.sharedPerBlock())
        : null;
  }

  /** What is expected of a rung on tensor cores. */
  public RungReport predict(TensorRung rung, Kernel kernel, int registers) {
    return report(rung, kernel, tensorUs(rung), Double.NaN, Double.NaN, true, registers, null);
  }

  /** As {@link #measure}, for rungs on tensor cores. */
  public List<RungReport> measureTensor(
      List<TensorRung> rungs, Gpu device, long seed, int rounds, Consumer<String> progress) {
    GpuTarget target = (GpuTarget) device.target();
    int sms = device.context().device().sms();
    List<RungReport> reports = new ArrayList<>();
    for (TensorRung rung : rungs) {
      if (!rung.runsOn(target)) {
        reports.add(missing(rung, target));
      } else {
        reports.add(
            tensor(
                rung,
                () -> {
                  Kernel kernel = kernel(rung, target, sms);
                  KernelReport r =
                      KernelBench.run(
                          new KernelBench.Request(kernel, Map.of(), seed, Math.max(5, rounds), 0),
                          device,
                          progress);
                  KernelReport.Timing timing = r.timing();
                  if (r.failure() != null && Double.isNaN(r.relError())) {
                    // Refused before it ran: it would be slow for this shape.
                    throw new UserError(r.failure());
                  }
                  return report(
                      rung,
                      kernel,
                      timing == null ? Double.NaN : timing.times().graphUs(),
                      r.baselines().isEmpty()
                          ? Double.NaN
                          : r.baselines().getFirst().times().graphUs(),
                      r.relError(),
                      false,
                      r.compiled().registers(),
                      r.failure());
                }));
      }
    }
    return reports;
  }

  private double efficiency(TensorRung rung) {
    return rung == TensorRung.MMA_SYNC && model.target().hasHopper()
        ? WARPS_ON_HOPPER
        : TENSOR_EFFICIENCY;
  }

  private Kernel kernel(TensorRung rung, GpuTarget target, int sms) {
    return rung.schedule(m, n, k, target, sms).kernel();
  }

  /** The report, or one that says why there is none: not every shape suits these rungs. */
  private RungReport tensor(TensorRung rung, Supplier<RungReport> report) {
    try {
      return report.get();
    } catch (UserError e) {
      return new RungReport(
          rung.text(),
          rung.change(),
          DType.BF16,
          Double.NaN,
          Double.NaN,
          Double.NaN,
          Double.NaN,
          least(DType.BF16),
          Double.NaN,
          true,
          0,
          0,
          0,
          Double.NaN,
          Double.NaN,
          0,
          "not for this shape: " + e.getMessage(),
          null);
    }
  }

  private RungReport report(
      TensorRung rung,
      Kernel kernel,
      double micros,
      double baseline,
      double relError,
      boolean predicted,
      int registers,
      @Nullable String failure) {
    int shared = KernelResources.of(kernel).sharedBytes();
    int threads = kernel.threadsPerBlock();
    int resident = model.target().blocksPerSm(threads, registers, shared);
    return new RungReport(
        rung.text(),
        rung.change(),
        DType.BF16,
        micros,
        baseline,
        gflops(micros),
        tensorUs(rung),
        least(DType.BF16),
        relError,
        predicted,
        registers,
        shared,
        (double) resident * threads / model.target().threadsPerSm(),
        2.0 * (m * k + k * n + m * n),
        Double.NaN,
        Double.NaN,
        "tensor",
        failure);
  }

  /** What is expected of a rung on tensor cores. */
  private double tensorUs(TensorRung rung) {
    double rate = 2.0 * m * n * k / (efficiency(rung) * model.bf16Tflops()) * 1e-6;
    double bytes = 2.0 * (m * k + k * n + m * n) / model.dramGBs() * 1e-3;
    return FILLING_US + Math.max(rate, bytes);
  }

  /** The bound of a product with such operands and sums in f32. */
  private RooflineBound least(DType operands) {
    double rate =
        operands == DType.F64
            ? doubleTflops()
            : operands == DType.F32 ? model.fp32Tflops() : model.bf16Tflops();
    double words = LowerBounds.gemmWords(m, n, k, (double) model.l2Bytes() / operands.bytes());
    return RooflineBound.of(
        2.0 * m * n * k, 1e12 * rate, words * operands.bytes(), model.dramGBs() * 1e9);
  }

  /** Of multiply-adds in f64, without tensor cores. */
  private double doubleTflops() {
    return (double) model.target().fp64PerClock() * model.sms() * model.boostMhz() * 1e-6;
  }

  private double gflops(double micros) {
    return 2.0 * m * n * k / micros * 1e-3;
  }

  /** What the model expects of a rung in f32. */
  public RungReport predict(Rung rung, Kernel kernel, int registers) {
    WarpProfile warp = WarpProfile.of(kernel);
    SimtTime time = SimtTime.of(kernel, warp, model, registers);
    double least = dtype == DType.F64 ? 2.0 * m * n * k / doubleTflops() * 1e-6 : 0;
    double micros = Math.max(time.micros(), least);
    return new RungReport(
        rung.name(),
        rung.change(),
        dtype,
        micros,
        Double.NaN,
        gflops(micros),
        micros,
        least(dtype),
        Double.NaN,
        true,
        registers,
        KernelResources.of(kernel).sharedBytes(),
        time.occupancy(),
        time.dramBytes(),
        time.l2Bytes(),
        warp.conflicts(),
        time.bound(),
        null);
  }

  /** Registers of a thread: as many as a block may have at most. */
  int registers(Kernel kernel) {
    int most = GpuTarget.REGISTERS_PER_SM / kernel.threadsPerBlock() / 8 * 8;
    return Math.min(KernelRegisters.of(kernel, model.target()), most);
  }
}
