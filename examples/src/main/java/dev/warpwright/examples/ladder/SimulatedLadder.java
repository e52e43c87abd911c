package dev.warpwright.examples.ladder;

import dev.warpwright.ir.Kernel;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Verification;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.verify.CounterPrediction;
import dev.warpwright.verify.KernelRegisters;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The rungs in the simulator, for which no GPU is needed: every access checked, the whole result
 * compared with sums in double precision, and what they ask of the memories counted.
 *
 * @param model of the device whose limits hold, and whose times are predicted from the counters
 */
public record SimulatedLadder(long m, long n, long k, DeviceModel model, long seed) {
  /** What is expected of a rung's kernel. */
  private interface Predicted<R> {
    RungReport of(R rung, Kernel kernel, int registers);
  }

  /** Runs rungs in f32. */
  public List<RungReport> run(List<Rung> rungs, Consumer<String> progress) {
    LadderRun shape = shape();
    return run(rungs, Rung::name, shape::possible, shape::predict, Precision.F32, progress);
  }

  /** Runs rungs on tensor cores. */
  public List<RungReport> runTensor(List<TensorRung> rungs, Consumer<String> progress) {
    LadderRun shape = shape();
    return run(rungs, TensorRung::text, shape::possible, shape::predict, Precision.BF16, progress);
  }

  private LadderRun shape() {
    return new LadderRun(m, n, k, model);
  }

  private <R> List<RungReport> run(
      List<R> rungs,
      Function<R, String> name,
      BiFunction<R, Function<Kernel, RungReport>, RungReport> possible,
      Predicted<R> predicted,
      Precision precision,
      Consumer<String> progress) {
    List<RungReport> reports = new ArrayList<>();
    for (R rung : rungs) {
      progress.accept("simulating " + name.apply(rung));
      reports.add(
          possible.apply(
              rung,
              kernel ->
                  simulated(predicted.of(rung, kernel, registers(kernel)), kernel, precision)));
    }
    return reports;
  }

  private RungReport simulated(RungReport predicted, Kernel kernel, Precision precision) {
    Arguments arguments = arguments(kernel);
    arguments.get("C").poison();
    List<Finding> findings;
    try {
      GridOptions options = GridOptions.random(seed).withTarget(model.target());
      findings = new GridInterpreter(kernel, options).check(arguments);
    } catch (SimulationError e) {
      findings = e.findings();
    }
    if (!findings.isEmpty()) {
      return predicted.simulated(
          Double.NaN, Double.NaN, Map.of(), "" + findings.getFirst().message());
    }
    Verification result =
        Verification.compare(
            // Tensor cores read B as it is stored for them, across.
            arguments.get("C").toDoubles(), product(arguments(kernel), precision != Precision.F32));
    CounterPrediction counted = CounterPrediction.whole(kernel, Map.of(), model);
    return predicted.simulated(
        counted.time().micros(),
        result.relError(),
        counted.counters(),
        result.within(precision.tolerance())
            ? null
            : String.format(Locale.ROOT, "relative error %.2e", result.relError()));
  }

  /** As many as a block may have at most. */
  private static int registers(Kernel kernel) {
    int most = GpuTarget.REGISTERS_PER_SM / kernel.threadsPerBlock() / 8 * 8;
    return Math.min(KernelRegisters.estimate(kernel), most);
  }

  private Arguments arguments(Kernel kernel) {
    return kernel.attrs().getString("workload") == null
        ? KernelData.random(kernel, Map.of(), seed)
        : KernelData.of(BoundKernel.of(kernel, Map.of()), seed);
  }

  /** {@code A · B}, or {@code A · Bᵀ}. */
  private double[] product(Arguments arguments, boolean transposedB) {
    double[] a = arguments.get("A").toDoubles();
    double[] b = arguments.get("B").toDoubles();
    int columns = (int) n;
    int depth = (int) k;
    double[] c = new double[(int) m * columns];
    for (int i = 0; i < m; i++) {
      for (int p = 0; p < depth; p++) {
        double left = a[i * depth + p];
        for (int j = 0; j < columns; j++) {
          c[i * columns + j] += left * b[transposedB ? j * depth + p : p * columns + j];
        }
      }
    }
    return c;
  }
}
