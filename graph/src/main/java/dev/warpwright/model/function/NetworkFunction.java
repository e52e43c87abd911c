package dev.warpwright.model.function;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A network as a function of M rows, and what a schedule needs to know about it. Widths of
 * intermediates are rounded up to whole granules; the columns that this adds are zero wherever a
 * product or a reduction would read them.
 *
 * @param func parameters: inputs, outputs, constants, then the row count M
 * @param rows the row count
 * @param inputs [M, features] each
 * @param outputs [M, features] each, in the type of activations
 * @param constants weights and vectors
 * @param stages what the blocks are, in the order of the function
 * @param attentions which of the stages are attention, in their order
 * @param norms which of the results are RMS norms
 */
public record NetworkFunction(
    PrimFunc func,
    ScalarParam rows,
    List<Buffer> inputs,
    List<Buffer> outputs,
    List<Constant> constants,
    List<Stage> stages,
    List<Attention> attentions,
    List<Norm> norms) {
  /** A block of the function. */
  public sealed interface Stage permits Load, Matmul, Reduction, Map, Store, Update {
    /** Name of the block. */
    String block();
  }

  /** Copies an input, adding zero columns up to a whole granule. */
  public record Load(String block, Buffer from, Buffer to) implements Stage {}

  /**
   * A matrix product: {@code accumulator[M, n] = a[M, k] · weight}.
   *
   * @param exact whether it must be computed in f32 whatever the precision is, because it has few
   *     inputs
   */
  public record Matmul(
      String block,
      Buffer accumulator,
      Buffer a,
      Buffer weight,
      boolean transposed,
      long n,
      long k,
      boolean exact)
      implements Stage {}

  /** A sum over the columns of each row. */
  public record Reduction(String block, Buffer to) implements Stage {}

  /**
   * A formula, the result of which a product, a reduction or several formulas read.
   *
   * @param pointwise whether it reads the other intermediates at its own column only
   * @param ending what it is, if it is the epilogue of a product; null if it is another formula
   */
  public record Map(String block, Buffer to, boolean pointwise, @Nullable Ending ending)
      implements Stage {}

  /**
   * A formula that is the epilogue of a product, or of two: a gated linear unit.
   *
   * @param accumulator of the product, of the gate's if there are two
   * @param bias added to each row; null for none
   * @param residual added at the end; null for none
   * @param up what the gate lets through, a product with a bias and no more; null for one product
   */
  public record Ending(
      Buffer accumulator,
      @Nullable Buffer bias,
      Activation activation,
      @Nullable Buffer residual,
      @Nullable Ending up) {
    /** Of one product. */
    public Ending(
        Buffer accumulator,
        @Nullable Buffer bias,
        Activation activation,
        @Nullable Buffer residual) {
      this(accumulator, bias, activation, residual, null);
    }

    /** The epilogue. */
    public Epilogue epilogue() {
      boolean added = bias != null || up != null && up.bias != null;
      return new Epilogue(
          1, 0, added, activation, false, false, false, residual != null, up != null);
    }

    /** Whether it is a product with a bias at most. */
    private boolean isLinear() {
      return activation == Activation.NONE && residual == null && up == null;
    }

    /** With an activation behind it, or null. */
    @Nullable Ending then(Activation next) {
      return isLinear() ? new Ending(accumulator, bias, next, null) : null;
    }

    /** With a buffer's elements added, or null. */
    @Nullable Ending plus(Buffer addend) {
      if (residual != null) {
        return null;
      }
      if (addend.rank() == 2) {
        return new Ending(accumulator, bias, activation, addend, up);
      }
      return bias == null && isLinear() ? new Ending(accumulator, addend, activation, null) : null;
    }

    /** The gated linear unit of two, whichever of them is the gate; or null. */
    static @Nullable Ending glu(Ending one, Ending other) {
      if (one.accumulator == other.accumulator) {
        return null;
      }
      Ending gate = one.isLinear() ? other : one;
      Ending up = gate == one ? other : one;
      return up.isLinear() && gate.residual == null && gate.up == null
          ? new Ending(gate.accumulator, gate.bias, gate.activation, null, up)
          : null;
    }
  }

  /** Copies a result to an output, leaving out the columns that were added. */
  public record Store(String block, Buffer from, Buffer to) implements Stage {}

  /**
   * An output that is an input but for some columns, which are what a formula made: a cache to
   * which something is appended. Kernels write those columns only; a caller may give the same
   * memory for both.
   *
   * @param from [M, groups · columns]: what takes their place
   * @param input [M, groups · stride], which nobody else reads
   * @param to the same
   * @param groups of the columns that are written
   * @param stride columns from one group to the next
   * @param first column of the first group that is written
   * @param columns of a group that are written
   */
  public record Update(
      String block,
      Buffer from,
      Buffer input,
      Buffer to,
      int groups,
      int stride,
      int first,
      int columns)
      implements Stage {}

  /**
   * Stages that together are attention of one new token for each row, as a workload has it.
   *
   * @param blocks of the stages; the last is the one that writes {@code to}
   * @param q [M, heads · headSize] and more columns, and so on
   * @param to the same as q
   * @param keys of a row
   * @param scale of scores
   */
  public record Attention(
      List<String> blocks,
      Buffer q,
      Buffer k,
      Buffer v,
      Buffer to,
      int heads,
      int kvHeads,
      int headSize,
      int keys,
      double scale) {
    public Attention {
      blocks = List.copyOf(blocks);
    }

    /** With other buffers in the place of its own. */
    public Attention with(UnaryOperator<Buffer> other) {
      return new Attention(
          blocks,
          other.apply(q),
          other.apply(k),
          other.apply(v),
          other.apply(to),
          heads,
          kvHeads,
          headSize,
          keys,
          scale);
    }
  }

  /**
   * A formula that is an RMS norm: {@code x / √(mean(x²) + ε) · scale}.
   *
   * @param x [M, features], without gaps
   * @param to the same, in the type of x
   * @param scale a factor for each feature; null for none
   */
  public record Norm(Buffer x, Buffer to, @Nullable ConstantTensor scale, double epsilon) {
    /** With other buffers in the place of its own. */
    public Norm with(UnaryOperator<Buffer> other) {
      return new Norm(other.apply(x), other.apply(to), scale, epsilon);
    }
  }

  public NetworkFunction {
    norms = List.copyOf(norms);
    attentions = List.copyOf(attentions);
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
    constants = List.copyOf(constants);
    stages = List.copyOf(stages);
  }

  /** The outputs that are inputs but for some columns. */
  public List<Update> updates() {
    return stages.stream().filter(Update.class::isInstance).map(Update.class::cast).toList();
  }

  /** What goes in and comes out: a cache, of which little is written, once. */
  public List<Buffer> ends() {
    List<Buffer> ends = new ArrayList<>(inputs);
    ends.addAll(outputs);
    updates().forEach(update -> ends.remove(update.to()));
    return ends;
  }

  /** The products, in order. */
  public List<Matmul> products() {
    return stages.stream().filter(Matmul.class::isInstance).map(Matmul.class::cast).toList();
  }
}
