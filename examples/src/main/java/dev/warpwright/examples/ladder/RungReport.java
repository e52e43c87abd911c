package dev.warpwright.examples.ladder;

import dev.warpwright.ir.type.DType;
import dev.warpwright.perf.RooflineBound;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One line of the table.
 *
 * @param dtype of the operands
 * @param timeUs of one product; NaN if there is none
 * @param baselineUs of cuBLAS, measured in turn; NaN if it was not
 * @param predictedUs by the model, also where the time was measured; NaN if it knows none
 * @param least below which no kernel for this product gets on the device
 * @param relError NaN if nothing ran
 * @param predicted whether the time comes from a model
 * @param registers of a thread; estimated where no compiler is installed
 * @param occupancy resident warps as a part of what an SM can hold
 * @param dramBytes predicted traffic of device memory
 * @param l2Bytes predicted traffic between the second-level cache and the SMs
 * @param conflicts rounds of shared memory lost to bank conflicts, as a part of those needed
 * @param bound what the model takes for the bottleneck
 * @param failure null if all is well
 * @param missing why the device or the shape does not have this rung; null if it does
 * @param counters what was counted in the simulator, by name; empty if nothing was
 */
public record RungReport(
    String name,
    String change,
    DType dtype,
    double timeUs,
    double baselineUs,
    double gflops,
    double predictedUs,
    RooflineBound least,
    double relError,
    boolean predicted,
    int registers,
    int sharedBytes,
    double occupancy,
    double dramBytes,
    double l2Bytes,
    double conflicts,
    String bound,
    @Nullable String failure,
    @Nullable String missing,
    Map<String, Double> counters) {
  public RungReport {
    counters = Collections.unmodifiableMap(new LinkedHashMap<>(counters));
  }

  /** A rung that the device has, and that did not run in the simulator. */
  RungReport(
      String name,
      String change,
      DType dtype,
      double timeUs,
      double baselineUs,
      double gflops,
      double predictedUs,
      RooflineBound least,
      double relError,
      boolean predicted,
      int registers,
      int sharedBytes,
      double occupancy,
      double dramBytes,
      double l2Bytes,
      double conflicts,
      String bound,
      @Nullable String failure) {
    this(
        name,
        change,
        dtype,
        timeUs,
        baselineUs,
        gflops,
        predictedUs,
        least,
        relError,
        predicted,
        registers,
        sharedBytes,
        occupancy,
        dramBytes,
        l2Bytes,
        conflicts,
        bound,
        failure,
        null,
        Map.of());
  }

  /** A rung that there is none of here, and why. */
  static RungReport missing(
      String name, String change, DType dtype, RooflineBound least, String why) {
    double none = Double.NaN;
    return new RungReport(
        name, change, dtype, none, none, none, none, least, none, true, 0, 0, 0, none, none, none,
        "", null, why, Map.of());
  }

  /**
   * The same after a run in the simulator.
   *
   * @param error of the result, relative
   * @param wrong what is wrong with it; null if nothing is
   */
  public RungReport simulated(double error, Map<String, Double> counted, @Nullable String wrong) {
    return new RungReport(
        name,
        change,
        dtype,
        timeUs,
        baselineUs,
        gflops,
        predictedUs,
        least,
        error,
        true,
        registers,
        sharedBytes,
        occupancy,
        dramBytes,
        l2Bytes,
        conflicts,
        bound,
        wrong,
        null,
        counted);
  }

  /** Whether the whole result was compared with a reference and is right. */
  public boolean verified() {
    return failure == null && missing == null && !Double.isNaN(relError);
  }
}
