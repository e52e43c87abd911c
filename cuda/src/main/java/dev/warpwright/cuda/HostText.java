package dev.warpwright.cuda;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.GpuTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Pieces of C++ for a host program that launches printed kernels. */
public final class HostText {
  private final Names names;
  private final ExprPrinter exprs;

  /**
   * Names for what a host function takes.
   *
   * @param params buffers, and scalars that are at least 0
   * @param functions names that are taken
   */
  public HostText(List<? extends Param> params, Set<String> functions) {
    this.names = new Names(functions);
    this.exprs =
        new ExprPrinter(
            names,
            new Uses(GpuTarget.SM_90A),
            new Facts(Simplify.ofParams(new ArrayList<>(params))),
            Constants.none(),
            Map.of());
    for (Param param : params) {
      Object object = param instanceof ScalarParam scalar ? scalar.var() : param;
      names.declare(object, param.name());
    }
  }

  /**
   * {@return the name of a buffer}
   *
   * @param buffer a parameter
   */
  public String of(Buffer buffer) {
    return names.of(buffer);
  }

  /**
   * {@return the name of a scalar}
   *
   * @param scalar a parameter
   */
  public String of(ScalarParam scalar) {
    return names.of(scalar.var());
  }

  /**
   * {@return an integer expression of the scalars in C++}
   *
   * @param e of the scalars
   */
  public String of(Expr e) {
    return exprs.print(e).string();
  }

  /**
   * {@return the type of an element in CUDA C++}
   *
   * @param dtype of elements
   */
  public static String type(DType dtype) {
    return CudaTypes.name(dtype);
  }

  /**
   * {@return whether a kernel writes a buffer by statements or instructions}
   *
   * @param kernel for a grid
   * @param buffer a parameter of it
   */
  public static boolean writes(Kernel kernel, Buffer buffer) {
    return AccessSummary.of(kernel).writes(buffer);
  }

  /**
   * {@return a snake-case identifier like this text}
   *
   * @param text any
   */
  public static String identifier(String text) {
    return Names.identifier(text);
  }
}
