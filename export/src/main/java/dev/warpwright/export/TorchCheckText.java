package dev.warpwright.export;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.accuracy.ErrorBound;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmDeviation;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** What a PyTorch operator's module checks when it is run as a program: a GEMM, in f64. */
final class TorchCheckText {
  private TorchCheckText() {}

  /** Compares with what PyTorch computes, where that is one line. */
  static String of(Exported exported, Signature signature, String name) {
    return exported.workload() instanceof BoundWorkload.Gemm product
            && exported.isChecked()
            && product.k() > 0
        ? product(product, signature, name)
        : "";
  }

  private static String product(BoundWorkload.Gemm product, Signature signature, String name) {
    List<String> lines = new ArrayList<>();
    for (Buffer input : product.inputs()) {
      String shape = TorchText.shape(signature, input);
      String made =
          input.dtype().isInt()
              ? String.format(
                  Locale.ROOT,
                  "torch.randint(-127, 128, %s, dtype=%s, device=\"cuda\")",
                  shape,
                  TorchText.dtype(input))
              : String.format(
                  Locale.ROOT,
                  "torch.randn(%s, device=\"cuda\").to(%s)",
                  shape,
                  TorchText.dtype(input));
      lines.add(String.format(Locale.ROOT, "%s = %s", signature.text().of(input), made));
    }
    lines.add("wanted = " + formula(product, signature));
    lines.add(
        String.format(
            Locale.ROOT,
            "got = %s(%s)",
            name,
            product.inputs().stream().map(signature.text()::of).collect(Collectors.joining(", "))));
    lines.add("error = ((got.double() - wanted).norm() / wanted.norm()).item()");
    lines.addAll(deviation(product, signature));
    String right = String.format(Locale.ROOT, "error <= %.0e and worst <= 1", product.tolerance());
    lines.add(
        "print(f\"relative error {error:.2e}, elements up to {worst:.2f} of their bound:\","
            + String.format(Locale.ROOT, " \"right\" if %s else \"WRONG\")", right));
    lines.add(String.format(Locale.ROOT, "raise SystemExit(0 if %s else 1)", right));
    return "\n\nif __name__ == \"__main__\":\n    " + String.join("\n    ", lines) + "\n";
  }

  /** By how much the worst element is further off than its own products allow: {@code worst}. */
  private static List<String> deviation(BoundWorkload.Gemm product, Signature signature) {
    GemmDeviation spread = product.deviation(0);
    ErrorBound bound = ErrorBound.of(product.c().dtype());
    Layout layout = product.layout();
    String a = signature.text().of(product.a()) + ".double()" + (layout.transposedA() ? ".mT" : "");
    String b = signature.text().of(product.b()) + ".double()" + (layout.transposedB() ? ".mT" : "");
    Epilogue epilogue = product.epilogue();
    String factor = Double.toString(Math.abs(epilogue.alpha()));
    String most = "factor * total.abs()";
    String behind = "";
    for (int o = 0; o < epilogue.operands().size(); o++) {
      String operand = signature.text().of(product.extras().get(o)) + ".double().abs()";
      switch (epilogue.operands().get(o)) {
        case ROW_SCALE -> factor += " * " + operand + "[:, None]";
        case COLUMN_SCALE -> factor += " * " + operand;
        case ADDEND -> most += " + " + Math.abs(epilogue.beta()) + " * " + operand;
        case BIAS -> most += " + " + operand;
        case GATE -> behind += " * " + operand;
        case RESIDUAL -> behind += " + " + 2 * spread.unit() + " * " + operand;
      }
    }
    List<String> lines = new ArrayList<>();
    lines.add("total = (" + a + ") @ (" + b + ")");
    lines.add("squares = (" + a + ").square() @ (" + b + ").square()");
    lines.add("before = " + spread.relative() + " * ((squares + total.square()) / 2).sqrt()");
    if (!epilogue.equals(Epilogue.NONE)) {
      lines.add("factor = " + factor);
      lines.add("rounded = " + 2 * spread.unit() + " * (" + most + ")");
      lines.add(
          String.format(
              Locale.ROOT,
              "before = (%s * (factor * before + rounded) + rounded%s)%s",
              epilogue.activation().slope(),
              spread.offset() == 0 ? "" : " + " + 2 * spread.unit() * spread.offset(),
              behind));
    }
    lines.add("before = " + ErrorBound.DEVIATIONS + " * before");
    lines.add(
        String.format(
            Locale.ROOT,
            "limit = %s * (wanted.abs() + before) + before + %s",
            bound.unit(),
            bound.tiny()));
    lines.add("off = (got.double() - wanted).abs()");
    lines.add("worst = torch.where(off == 0, 0, off / limit).max().item()");
    return lines;
  }

  /** What the product is in double precision, with what follows it; see {@link Epilogue}. */
  private static String formula(BoundWorkload.Gemm product, Signature signature) {
    Layout layout = product.layout();
    String a = signature.text().of(product.a()) + ".double()" + (layout.transposedA() ? ".mT" : "");
    String b = signature.text().of(product.b()) + ".double()" + (layout.transposedB() ? ".mT" : "");
    Epilogue epilogue = product.epilogue();
    String linear =
        (epilogue.alpha() == 1 ? "" : epilogue.alpha() + " * ") + "(" + a + " @ " + b + ")";
    String behind = "";
    for (int o = 0; o < epilogue.operands().size(); o++) {
      String operand = signature.text().of(product.extras().get(o)) + ".double()";
      switch (epilogue.operands().get(o)) {
        case ROW_SCALE -> linear += " * " + operand + "[:, None]";
        case COLUMN_SCALE -> linear += " * " + operand;
        case ADDEND -> linear += " + " + epilogue.beta() + " * " + operand;
        case BIAS -> linear += " + " + operand;
        case GATE -> behind += " * " + operand;
        case RESIDUAL -> behind += " + " + operand;
      }
    }
    return epilogue.activation().torch(linear) + behind;
  }
}
