package dev.warpwright.compiler.program;

import dev.warpwright.ir.Buffer;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.function.NetworkFunction.Ending;
import dev.warpwright.model.function.NetworkFunction.Product;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.function.NetworkFunction.Store;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A layer as a GEMM of the kernel families, with as much of what follows the product as their
 * epilogues have.
 *
 * @param stages that it covers: the product, and perhaps a formula and a copy to an output
 * @param ending what follows the product
 * @param result what it writes
 */
record LayerGemm(
    GemmWorkload workload, List<Stage> stages, Product product, Ending ending, Buffer result) {
  LayerGemm {
    stages = List.copyOf(stages);
  }

  /**
   * Recognises a layer.
   *
   * @param stages a product and what follows it in its group
   * @return null if the product has to be exact, is in tf32, or its operands have gaps
   */
  static @Nullable LayerGemm of(List<Stage> stages, Precision precision) {
    // Tensor cores cut f32 operands off where simple kernels round them: over several layers that
    // is too much.
    if (precision == Precision.TF32
        || !(stages.getFirst() instanceof Product product)
        || product.exact()
        || !dense(product)) {
      return null;
    }
    Ending ending =
        stages.size() > 1
                && stages.get(1) instanceof NetworkFunction.Map map
                && map.ending() != null
                && map.ending().accumulator() == product.accumulator()
                && (map.ending().residual() == null || alike(map.ending().residual(), map.to()))
            ? map.ending()
            : null;
    if (ending == null) {
      Ending none = new Ending(product.accumulator(), null, Activation.NONE, null);
      return layer(product, stages.subList(0, 1), none, product.accumulator());
    }
    Buffer written = Partition.written(stages.get(1));
    if (stages.size() > 2
        && stages.get(2) instanceof Store(String _, Buffer from, Buffer to)
        && from == written
        && alike(from, to)) {
      return layer(product, stages.subList(0, 3), ending, to);
    }
    return layer(product, stages.subList(0, 2), ending, written);
  }

  private static LayerGemm layer(
      Product product, List<Stage> stages, Ending ending, Buffer result) {
    GemmWorkload workload =
        new GemmWorkload(
            product.a().extent(0),
            product.n(),
            product.k(),
            Precision.of(product.a().dtype()),
            result.dtype(),
            product.transposed() ? GemmWorkload.Layout.NT : GemmWorkload.Layout.NN,
            ending.epilogue());
    return new LayerGemm(workload, stages, product, ending, result);
  }

  private static boolean dense(Product product) {
    long rows = product.transposed() ? product.n() : product.k();
    long columns = product.transposed() ? product.k() : product.n();
    Buffer weight = product.weight();
    return weight.extent(0) == rows
        && weight.extent(1) == columns
        && product.a().extent(1) == product.k()
        && product.accumulator().extent(1) == product.n();
  }

  /** Whether two matrices have the same elements in the same places. */
  static boolean alike(Buffer a, Buffer b) {
    return a.dtype() == b.dtype() && a.extent(0) == b.extent(0) && a.extent(1) == b.extent(1);
  }
}
