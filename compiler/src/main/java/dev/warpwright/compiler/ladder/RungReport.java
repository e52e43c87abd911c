package dev.warpwright.compiler.ladder;

import dev.warpwright.cost.LeastTime;
import dev.warpwright.ir.DType;
import org.jspecify.annotations.Nullable;

/**
 * One line of the table.
 *
 * @param dtype of the operands
 * @param timeUs of one product; NaN if there is none
 * @param peerUs of cuBLAS, measured in turn; NaN if it was not
 * @param predictedUs by the model, also where the time was measured; NaN if it knows none
 * @param least below which no kernel for this product gets on the device
 * @param relError NaN if nothing ran
 * @param predicted whether the time comes from a model
 * @param registers of a thread; estimated where no compiler is installed
 * @param occupancy resident warps as a part of what a multiprocessor can hold
 * @param dramBytes predicted traffic of device memory
 * @param l2Bytes predicted traffic between the second-level cache and the multiprocessors
 * @param conflicts rounds of shared memory lost to bank conflicts, as a part of those needed
 * @param bound what the model takes for the bottleneck
 * @param failure null if all is well
 */
public record RungReport(
    String name,
    String change,
    DType dtype,
    double timeUs,
    double peerUs,
    double gflops,
    double predictedUs,
    LeastTime least,
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
  /** Whether the whole result was compared with a reference and is right. */
  public boolean verified() {
    return !predicted && failure == null;
  }
}
