package dev.warpwright.workload;

import dev.warpwright.ir.Expr;
import dev.warpwright.workload.tensor.Ops;

/** A function of one element at the end of a product. */
public enum Activation {
  NONE,
  RELU,
  GELU,
  GELU_TANH,
  SILU;

  /** The function applied to an f32 value. */
  public Expr of(Expr x) {
    return switch (this) {
      case NONE -> x;
      case RELU -> Ops.relu(x);
      case GELU -> Ops.gelu(x);
      case GELU_TANH -> Ops.geluTanh(x);
      case SILU -> dev.warpwright.ir.Exprs.mul(x, Ops.sigmoid(x));
    };
  }
}
