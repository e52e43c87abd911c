package dev.warpwright.cuda;

import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.type.DType;
import java.util.List;

/** Mathematical functions as CUDA names them, which nvcc and NVRTC have built in. */
final class MathFunctions {
  private MathFunctions() {}

  static Text call(Uses uses, MathOp op, DType dtype, List<String> args) {
    boolean isInt = dtype.isInt();
    if (!(dtype == DType.F32 || dtype == DType.F64 || (isInt && op == MathOp.ABS))) {
      throw new IllegalArgumentException(op + " on " + dtype + ": cast to f32 first");
    }
    if (isInt) {
      return dtype.isUnsigned()
          ? new Text(args.getFirst(), Text.TERNARY)
          : Text.atom("abs(" + args.getFirst() + ")");
    }
    String name =
        switch (op) {
          case FMA -> "fma";
          case EXP -> "exp";
          case EXP2 -> "exp2";
          case LOG -> "log";
          case SQRT -> "sqrt";
          case RSQRT -> "rsqrt";
          case SIN -> "sin";
          case COS -> "cos";
          case TANH -> "tanh";
          case ERF -> "erf";
          case POW -> "pow";
          case ABS -> "fabs";
          case FLOOR -> "floor";
          case CEIL -> "ceil";
          case EXP2_APPROX -> approximate(uses, Helper.EXP2_APPROX, dtype);
          case TANH_APPROX -> approximate(uses, Helper.TANH_APPROX, dtype);
          case RCP_APPROX -> approximate(uses, Helper.RCP_APPROX, dtype);
          case SIN_APPROX -> approximate(uses, Helper.SIN_APPROX, dtype);
          case COS_APPROX -> approximate(uses, Helper.COS_APPROX, dtype);
        };
    boolean suffixed = dtype == DType.F32 && !name.endsWith("_approx");
    return Text.atom(name + (suffixed ? "f" : "") + "(" + String.join(", ", args) + ")");
  }

  private static String approximate(Uses uses, Helper helper, DType dtype) {
    if (dtype != DType.F32) {
      throw new IllegalArgumentException(helper + " on " + dtype + ": it is for f32 only");
    }
    return uses.helper(helper);
  }
}
