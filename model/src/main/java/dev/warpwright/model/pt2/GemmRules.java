package dev.warpwright.model.pt2;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import java.util.List;
import java.util.Map;

/** Products of matrices. */
final class GemmRules {
  private GemmRules() {}

  static void linear(AtenCall call) {
    String input = call.tensor("input");
    String weight = call.tensor("weight");
    String bias = call.has("bias") ? call.tensor("bias") : "";
    String transposed = call.translation().untransposed(weight);
    if (transposed == null) {
      call.linear(input, weight, bias, call.output());
    } else {
      plain(call, input, transposed, bias, call.output());
    }
  }

  /** {@code a · b}. */
  static void matmul(AtenCall call, String a, String b) {
    product(call, call.tensor(a), call.tensor(b), "", call.output());
  }

  /** {@code beta · self + alpha · mat1 · mat2}. */
  static void addMatmul(AtenCall call) {
    DType type = call.outputType();
    double beta = call.number("beta", 1);
    double alpha = call.number("alpha", 1);
    String self = call.tensor("self");
    String input = call.tensor("mat1");
    String matrix = call.tensor("mat2");
    ConstantTensor constant = call.translation().constant(self);
    if (alpha == 1 && beta == 1 && constant != null && constant.rank() == 1) {
      product(call, input, matrix, self, call.output());
      return;
    }
    String product = call.translation().fresh(call.output() + "/product");
    product(call, input, matrix, "", product);
    String scaled = alpha == 1 ? product : call.step("Mul", product, call.scalar(alpha, type));
    if (beta == 0) {
      call.last("Identity", scaled);
      return;
    }
    String addend = beta == 1 ? self : call.step("Mul", self, call.scalar(beta, type));
    call.last("Add", scaled, addend);
  }

  /** With a matrix [inputs, outputs]; if it is the transpose of a constant, that one is used. */
  private static void product(
      AtenCall call, String input, String matrix, String bias, String output) {
    String weight = call.translation().untransposed(matrix);
    if (weight != null) {
      call.linear(input, weight, bias, output);
    } else {
      plain(call, input, matrix, bias, output);
    }
  }

  private static void plain(
      AtenCall call, String input, String matrix, String bias, String output) {
    String product = bias.isEmpty() ? output : call.translation().fresh(output + "/product");
    call.emit("MatMul", List.of(input, matrix), Map.of(), List.of(product));
    if (!bias.isEmpty()) {
      call.emit("Add", List.of(product, bias), Map.of(), List.of(output));
    }
  }
}
