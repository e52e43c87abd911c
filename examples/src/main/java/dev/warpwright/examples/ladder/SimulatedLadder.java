package dev.warpwright.examples.ladder;

import dev.warpwright.ir.Kernel;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.Finding;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.SimulationError;
import dev.warpwright.sim.Verification;
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
import java.util.function.Consumer;

/**
 * The rungs in the simulator, for which no GPU is needed: every access checked, the whole result
 * compared with sums in double precision, and what they ask of the memories counted.
 *
 * @param model of the device whose limits hold, and whose times are predicted from the counters
 */
public record SimulatedLadder(long m, long n, long k, DeviceModel model, long seed) {
  /** Runs rungs in f32. */
  public List<RungReport> run(List<Rung> rungs, Consumer<String> progress) {
    LadderRun shape = new LadderRun(m, n, k, model);
    List<RungReport> reports = new ArrayList<>();
    for (Rung rung : rungs) {
      progress.accept("simulating " + rung.name());
      reports.add(
          shape.possible(
              rung,
              kernel -> {
                RungReport predicted = shape.predict(rung, kernel, registers(kernel));
                return simulated(predicted, kernel, false, Precision.F32);
              }));
    }
    return reports;
  }

  /** Runs rungs on tensor cores. */
  public List<RungReport> runTensor(List<TensorRung> rungs, Consumer<String> progress) {
    LadderRun shape = new LadderRun(m, n, k, model);
    List<RungReport> reports = new ArrayList<>();
    for (TensorRung rung : rungs) {
      progress.accept("simulating " + rung.text());
      reports.add(
          shape.possible(
              rung,
              kernel -> {
                RungReport predicted = shape.predict(rung, kernel, registers(kernel));
                return simulated(predicted, kernel, true, Precision.BF16);
              }));
    }
    return reports;
  }

  private RungReport simulated(
      RungReport predicted, Kernel kernel, boolean transposedB, Precision precision) {
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
            arguments.get("C").toDoubles(), product(arguments(kernel), transposedB));
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
        ? KernelData.random(kernel.params(), Map.of(), seed)
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
