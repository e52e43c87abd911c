package dev.warpwright.compiler.ladder;

import dev.warpwright.compiler.GpuDevice;
import dev.warpwright.compiler.bench.KernelSeries;
import dev.warpwright.cost.SimtTime;
import dev.warpwright.cost.WarpProfile;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.ResourceUsage;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Walk;
import dev.warpwright.target.DeviceModel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Measures the rungs on a GPU, or predicts them. */
public final class LadderRun {
  /** Registers that a thread needs beside its arrays, where no compiler says it. */
  private static final int SCALARS = 40;

  private final long m;
  private final long n;
  private final long k;
  private final DeviceModel model;

  /**
   * A run for one shape.
   *
   * @param model of the device that is used, or whose times are predicted
   */
  public LadderRun(long m, long n, long k, DeviceModel model) {
    this.m = m;
    this.n = n;
    this.k = k;
    this.model = model;
  }

  /** Times from the model alone. */
  public List<RungReport> predict(List<Rung> rungs, Consumer<String> progress) {
    List<RungReport> reports = new ArrayList<>();
    for (Rung rung : rungs) {
      progress.accept("predicting " + rung.name());
      Kernel kernel = Ladder.kernel(rung, m, n, k);
      reports.add(predict(rung, kernel, registers(kernel)));
    }
    return reports;
  }

  /** Times of a GPU, each verified. */
  public List<RungReport> measure(
      List<Rung> rungs, GpuDevice device, long seed, int rounds, Consumer<String> progress) {
    List<Kernel> kernels = rungs.stream().map(rung -> Ladder.kernel(rung, m, n, k)).toList();
    List<KernelSeries.Result> results = KernelSeries.run(kernels, device, seed, rounds, progress);
    List<RungReport> reports = new ArrayList<>();
    for (int i = 0; i < rungs.size(); i++) {
      KernelSeries.Result result = results.get(i);
      RungReport predicted = predict(rungs.get(i), kernels.get(i), result.registers());
      reports.add(
          new RungReport(
              rungs.get(i),
              result.timeUs(),
              result.peerUs(),
              gflops(result.timeUs()),
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

  private double gflops(double micros) {
    return 2.0 * m * n * k / micros * 1e-3;
  }

  private RungReport predict(Rung rung, Kernel kernel, int registers) {
    WarpProfile warp = WarpProfile.of(kernel);
    SimtTime time = SimtTime.of(kernel, warp, model, registers);
    return new RungReport(
        rung,
        time.micros(),
        Double.NaN,
        gflops(time.micros()),
        Double.NaN,
        true,
        registers,
        dev.warpwright.target.KernelResources.of(kernel).sharedBytes(),
        time.occupancy(),
        time.dramBytes(),
        time.l2Bytes(),
        warp.conflicts(),
        time.bound(),
        null);
  }

  /** What the compiler says, or else an estimate from the arrays. */
  private int registers(Kernel kernel) {
    return CudaCompilers.system()
        .flatMap(
            compiler ->
                GpuDevice.compile(CudaPrinter.print(kernel, model.target()), model.target())
                    .usage(CudaPrinter.functionName(kernel)))
        .map(ResourceUsage::registers)
        .orElseGet(() -> estimate(kernel));
  }

  private static int estimate(Kernel kernel) {
    long[] elements = {0};
    Walk.statements(
        kernel.body(),
        s -> {
          if (s instanceof Stmt.Alloc alloc && alloc.buffer().scope() == Scope.LOCAL) {
            elements[0] += alloc.buffer().storageElements();
          }
        });
    return (int) Math.min(255, SCALARS + elements[0]);
  }
}
