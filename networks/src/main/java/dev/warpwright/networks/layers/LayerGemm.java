package dev.warpwright.networks.layers;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.function.NetworkFunction.Ending;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.model.function.NetworkFunction.Norm;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.function.NetworkFunction.Store;
import dev.warpwright.networks.stages.Partition;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A layer as a GEMM of the kernel families, with as much of what follows the product as their
 * epilogues have; or two layers that make a gated linear unit.
 *
 * @param stages that it covers: the product, and perhaps a formula and a copy to an output
 * @param product of the gate, if there are two
 * @param up the other product of a gated linear unit; null for one product
 * @param ending what follows the product
 * @param result what it writes
 * @param norm of its rows, which it does itself; null for rows that are taken as they are
 */
public record LayerGemm(
    GemmWorkload workload,
    List<Stage> stages,
    Matmul product,
    @Nullable Matmul up,
    Ending ending,
    Buffer result,
    @Nullable Norm norm) {
  public LayerGemm {
    stages = List.copyOf(stages);
  }

  /** What it multiplies by weights. */
  public Buffer a() {
    return norm == null ? product.a() : norm.x();
  }

  /**
   * The same of rows that are to be normed first.
   *
   * @param of rows, whose result it reads
   * @return null if GEMMs do not norm such rows
   */
  @Nullable LayerGemm normed(Norm of) {
    GemmWorkload w = workload;
    boolean fits =
        w.layout() == GemmWorkload.Layout.NT
            && w.operands().bytes() == 2
            && of.x().dtype() == w.operands()
            && of.x().extent(1) == w.k();
    return fits
        ? new LayerGemm(
            w.with(w.epilogue().normed(of.epsilon())), stages, product, up, ending, result, of)
        : null;
  }

  /**
   * Recognises a layer.
   *
   * @param stages a product and what follows it in its group
   * @return null if the product has to be exact, is in tf32, or its operands have gaps
   */
  static @Nullable LayerGemm of(List<Stage> stages, Precision precision) {
    if (!(stages.getFirst() instanceof Matmul product) || !isForFamilies(product, precision)) {
      return null;
    }
    Ending ending =
        stages.size() > 1
                && stages.get(1) instanceof NetworkFunction.Map map
                && map.ending() != null
                && map.ending().up() == null
                && map.ending().accumulator() == product.accumulator()
                && (map.ending().residual() == null || alike(map.ending().residual(), map.to()))
            ? map.ending()
            : null;
    if (ending == null) {
      Ending none = new Ending(product.accumulator(), null, Activation.NONE, null);
      return layer(product, null, stages.subList(0, 1), none, product.accumulator(), precision);
    }
    return ended(
        product, null, stages.subList(0, 1), stages.subList(1, stages.size()), ending, precision);
  }

  /**
   * Two products as a gated linear unit.
   *
   * @param stages a formula and what follows it in its group
   * @param products by their accumulators
   * @return null if it is none, or its products are not alike
   */
  static @Nullable LayerGemm glu(
      List<Stage> stages, Map<Buffer, Matmul> products, Precision precision) {
    if (!(stages.getFirst() instanceof NetworkFunction.Map map)
        || map.ending() == null
        || map.ending().up() == null
        || (map.ending().residual() != null && !alike(map.ending().residual(), map.to()))) {
      return null;
    }
    Matmul gate = products.get(map.ending().accumulator());
    Matmul up = products.get(map.ending().up().accumulator());
    if (gate == null || up == null) {
      return null;
    }
    boolean fits =
        isForFamilies(gate, precision)
            && isForFamilies(up, precision)
            && gate.a() == up.a()
            && gate.n() == up.n()
            && gate.k() == up.k()
            && gate.transposed() == up.transposed()
            && gate.n() % Epilogue.GLU_GROUP == 0;
    return fits ? ended(gate, up, List.of(gate, up), stages, map.ending(), precision) : null;
  }

  private static boolean isForFamilies(Matmul product, Precision precision) {
    // Tensor cores cut f32 operands off where simple kernels round them: over several layers that
    // is too much.
    return precision != Precision.TF32 && !product.exact() && dense(product);
  }

  /** With a formula, and with the copy of its result to an output if that is next. */
  private static LayerGemm ended(
      Matmul product,
      @Nullable Matmul up,
      List<Stage> before,
      List<Stage> behind,
      Ending ending,
      Precision precision) {
    Buffer written = Partition.written(behind.getFirst());
    boolean stored =
        behind.size() > 1
            && behind.get(1) instanceof Store(String _, Buffer from, Buffer to)
            && from == written
            && alike(from, to);
    List<Stage> stages = new ArrayList<>(before);
    stages.addAll(behind.subList(0, stored ? 2 : 1));
    return layer(product, up, stages, ending, Partition.written(stages.getLast()), precision);
  }

  private static LayerGemm layer(
      Matmul product,
      @Nullable Matmul up,
      List<Stage> stages,
      Ending ending,
      Buffer result,
      Precision precision) {
    // What others read in f32 is not rounded to f16 before.
    boolean half = precision == Precision.F16_ACCUMULATORS && result.dtype() == DType.F16;
    GemmWorkload workload =
        new GemmWorkload(
            product.a().extent(0),
            up == null ? product.n() : 2 * product.n(),
            product.k(),
            half ? precision : Precision.of(product.a().dtype()),
            result.dtype(),
            product.transposed() ? GemmWorkload.Layout.NT : GemmWorkload.Layout.NN,
            ending.epilogue());
    return new LayerGemm(workload, stages, product, up, ending, result, null);
  }

  private static boolean dense(Matmul product) {
    long rows = product.transposed() ? product.n() : product.k();
    long columns = product.transposed() ? product.k() : product.n();
    Buffer weight = product.weight();
    return weight.extent(0) == rows
        && weight.extent(1) == columns
        && product.a().extent(1) == product.k()
        && product.accumulator().extent(1) == product.n();
  }

  /** Whether two matrices have the same elements in the same places. */
  public static boolean alike(Buffer a, Buffer b) {
    return a.dtype() == b.dtype() && a.extent(0) == b.extent(0) && a.extent(1) == b.extent(1);
  }
}
