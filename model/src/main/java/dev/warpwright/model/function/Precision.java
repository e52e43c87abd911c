package dev.warpwright.model.function;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Tensor;
import java.util.Locale;

/**
 * The precision in which the matrices of a network are multiplied; sums are always accumulated in
 * f32.
 */
public enum Precision {
  F32(DType.F32, 3e-6),
  /** f32 in memory, operands rounded to 10 bits of fraction. */
  TF32(DType.F32, 2e-3),
  F16(DType.F16, 4e-3),
  BF16(DType.BF16, 2e-2);

  private final DType operand;
  private final double tolerance;

  Precision(DType operand, double tolerance) {
    this.operand = operand;
    this.tolerance = tolerance;
  }

  /** Element type of weights and of activations that are multiplied by weights. */
  public DType operand() {
    return operand;
  }

  /** Default bound of ‖out − ref‖ / ‖ref‖ for a verified result. */
  public double tolerance() {
    return tolerance;
  }

  /** The name on the command line, for example {@code bf16}. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The precision in which a file's weights are stored. */
  public static Precision of(Graph graph) {
    for (Node node : graph.nodes()) {
      for (Tensor constant : node.constants()) {
        if (constant.rank() == 2) {
          return switch (constant.dtype()) {
            case F16 -> F16;
            case BF16 -> BF16;
            case F32, F64, BOOL, I8, U8, I32, U32, I64, U64, F8E4M3, F8E5M2, MBARRIER, HANDLE ->
                F32;
          };
        }
      }
    }
    return F32;
  }
}
