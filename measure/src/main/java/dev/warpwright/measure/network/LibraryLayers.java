package dev.warpwright.measure.network;

import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Precision;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A network as people compute it by a library: GEMMs one after the other, each with what follows
 * it.
 *
 * @param precision of all operands and results
 */
public record LibraryLayers(Precision precision, List<Layer> layers) {
  public LibraryLayers {
    layers = List.copyOf(layers);
  }

  /**
   * A layer: f(x · Wᵀ + b), or where it is gated f(x · Gᵀ + b) ∘ (x · Uᵀ + c).
   *
   * @param n columns of its result
   * @param k columns of x
   * @param weights [n, k] in the operands' type, of a gated layer G and U
   * @param biases [n] in the operands' type, as many as there are weights; empty for none
   * @param activation f
   */
  public record Layer(
      int n,
      int k,
      List<MemorySegment> weights,
      List<MemorySegment> biases,
      Activation activation) {
    public Layer {
      weights = List.copyOf(weights);
      biases = List.copyOf(biases);
      if (weights.isEmpty()
          || weights.size() > 2
          || !biases.isEmpty() && biases.size() != weights.size()) {
        throw new IllegalArgumentException(
            weights.size() + " weights and " + biases.size() + " biases of a layer");
      }
    }

    boolean isGated() {
      return weights.size() == 2;
    }

    /** Columns of the one GEMM that computes it. */
    int columns() {
      return n * weights.size();
    }
  }
}
