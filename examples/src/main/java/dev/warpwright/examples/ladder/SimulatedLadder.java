package dev.warpwright.examples.ladder;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.ir.accuracy.ErrorBound;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.measure.reference.WorkloadReference;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Verification;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.verify.CounterPrediction;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The rungs in the simulator, for which no GPU is needed: every access checked, the whole result
 * compared with a reference in double precision, element by element, and what they ask of the
 * memories counted. Times are those of {@link LadderRun#predict}: counters alone know nothing of
 * the L1's lookups and of waiting, which decide at small shapes.
 *
 * @param dtype f32 or f64, of the rungs without tensor cores
 * @param model of the device whose limits hold, and whose times are predicted
 */
public record SimulatedLadder(long m, long n, long k, DType dtype, DeviceModel model, long seed) {
  /** What is expected of a rung's kernel. */
  private interface Predicted<R> {
    RungReport of(R rung, Kernel kernel, int registers);
  }

  /** Runs rungs without tensor cores. */
  public List<RungReport> run(List<Rung> rungs, Consumer<String> progress) {
    LadderRun shape = shape();
    return run(
        rungs,
        Rung::name,
        shape::possible,
        shape::predict,
        dtype == DType.F64 ? Precision.F64 : Precision.F32,
        progress);
  }

  /** Runs rungs on tensor cores. */
  public List<RungReport> runTensor(List<TensorRung> rungs, Consumer<String> progress) {
    LadderRun shape = shape();
    return run(rungs, TensorRung::text, shape::possible, shape::predict, Precision.BF16, progress);
  }

  private LadderRun shape() {
    return new LadderRun(m, n, k, dtype, model);
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
                  simulated(
                      predicted.of(rung, kernel, shape().registers(kernel)), kernel, precision)));
    }
    return reports;
  }

  private RungReport simulated(RungReport predicted, Kernel kernel, Precision precision) {
    BoundKernel bound = BoundKernel.of(kernel, Map.of());
    Arguments arguments = KernelData.of(bound, seed);
    WorkloadReference.Output right =
        WorkloadReference.outputs(bound.workload(), arguments::get).getFirst();
    arguments.get("C").poison();
    List<Finding> findings;
    try {
      GridOptions options = GridOptions.random(seed).withTarget(model.target());
      findings = new GridInterpreter(kernel, options).check(arguments);
    } catch (SimulationError e) {
      findings = e.findings();
    }
    if (!findings.isEmpty()) {
      return predicted.simulated(Double.NaN, Map.of(), "" + findings.getFirst().message());
    }
    double[] got = arguments.get("C").toDoubles();
    Verification result = Verification.compare(got, right.values());
    return predicted.simulated(
        result.relError(),
        CounterPrediction.whole(kernel, Map.of(), model).counters(),
        result.within(precision.tolerance())
            ? elements(bound.workload().outputs().getFirst(), got, right)
            : String.format(Locale.ROOT, "relative error %.2e", result.relError()));
  }

  /** What is further off than honest arithmetic; null if nothing is. */
  private @Nullable String elements(Buffer c, double[] got, WorkloadReference.Output right) {
    Deviations off =
        Deviations.of(
            ErrorBound.of(c.dtype()),
            i -> got[i],
            i -> right.values()[i],
            i -> right.deviations()[i],
            got.length,
            0,
            true);
    return off.honest() ? null : off.text(n);
  }
}
