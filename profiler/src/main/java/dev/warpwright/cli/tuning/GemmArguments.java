package dev.warpwright.cli.tuning;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.ir.type.DType;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.Locale;

/** Reads a product from {@code MNK=4096 dtype=bf16 layout=nt}. */
public final class GemmArguments {
  /** What {@link #read} asks for. */
  public static final String KEYS =
      "M, N, K, dtype, acc, out, layout, alpha, beta, bias, act, scale, gate, residual,"
          + " batch, shared, groups, lda, ldb, ldc, stridea, strideb, stridec";

  private static final long MOST = 1 << 20;

  /** Elements that indices of 32 bits reach. */
  private static final long FARTHEST = Integer.MAX_VALUE;

  private GemmArguments() {}

  /**
   * Reads the product.
   *
   * @throws UserError if a dimension is missing, or a value is none
   */
  public static GemmWorkload read(KeyValues values) {
    String type = values.text("dtype", "bf16");
    boolean tf32 = type.equals("tf32");
    DType operands = tf32 ? DType.F32 : dtype("dtype", type);
    Precision usual = tf32 ? Precision.TF32 : Precision.of(operands);
    String acc = values.text("acc", usual.accumulators().text());
    boolean half = acc.equals("f16") && operands == DType.F16;
    if (!half && !acc.equals(usual.accumulators().text())) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "acc=%s: GEMMs of %s accumulate in %s",
              acc,
              type,
              operands == DType.F16 ? "f32 or f16" : usual.accumulators().text()));
    }
    try {
      return new GemmWorkload(
          values.number("M", 1, MOST),
          values.number("N", 1, MOST),
          values.number("K", 0, MOST),
          half ? Precision.F16_ACCUMULATORS : usual,
          dtype("out", values.text("out", GemmWorkload.resultOf(operands).text())),
          layout(values.text("layout", "nt")),
          epilogue(values),
          batch(values),
          new GemmWorkload.Leading(
              values.number("lda", 0, MOST, 0),
              values.number("ldb", 0, MOST, 0),
              values.number("ldc", 0, MOST, 0)));
    } catch (IllegalArgumentException e) {
      throw new UserError(String.valueOf(e.getMessage()));
    }
  }

  private static Batch batch(KeyValues values) {
    long count = values.number("batch", 1, MOST, 1);
    String shared = values.text("shared", "none");
    if (!List.of("none", "a", "b").contains(shared)) {
      throw new UserError("shared=" + shared + ": it is none, a or b");
    }
    // A stride of 0 is what cuBLAS calls sharing.
    boolean sharedA = shared.equals("a") || "0".equals(values.text("stridea"));
    boolean sharedB = shared.equals("b") || "0".equals(values.text("strideb"));
    Batch.Strides strides =
        new Batch.Strides(
            values.number("stridea", 0, FARTHEST, 0),
            values.number("strideb", 0, FARTHEST, 0),
            values.number("stridec", 1, FARTHEST, 0));
    long groups = values.number("groups", 1, MOST, 0);
    if (count == 1 && !strides.equals(Batch.Strides.DENSE)) {
      throw new UserError("batch=1: one GEMM has no strides to another");
    }
    if (groups > 0 && (count == 1 || sharedA || sharedB)) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "groups=%d: grouped GEMMs are several, batch=%d or more, and share no operand",
              groups,
              Math.max(2, groups)));
    }
    return count == 1 ? Batch.NONE : new Batch(count, sharedA, sharedB, groups, strides);
  }

  private static DType dtype(String key, String text) {
    return switch (text) {
      case "bf16" -> DType.BF16;
      case "f16" -> DType.F16;
      case "f32" -> DType.F32;
      case "f64" -> DType.F64;
      case "e4m3" -> DType.F8E4M3;
      case "e5m2" -> DType.F8E5M2;
      case "int8", "i8" -> DType.I8;
      case "int32", "i32" -> {
        if (key.equals("out")) {
          yield DType.I32;
        }
        throw new UserError(key + "=" + text + ": integers are multiplied as int8");
      }
      default ->
          throw new UserError(
              key + "=" + text + ": it is bf16, f16, tf32, f32, f64, e4m3, e5m2 or int8");
    };
  }

  private static GemmWorkload.Layout layout(String text) {
    for (GemmWorkload.Layout layout : GemmWorkload.Layout.values()) {
      if (layout.name().toLowerCase(Locale.ROOT).equals(text)) {
        return layout;
      }
    }
    throw new UserError("layout=" + text + ": it is nt, nn, tn or tt");
  }

  private static Epilogue epilogue(KeyValues values) {
    double alpha = decimal("alpha", values.text("alpha", "1"));
    double beta = decimal("beta", values.text("beta", "0"));
    boolean bias = values.number("bias", 0, 1, 0) == 1;
    String scale = values.text("scale", "none");
    if (!List.of("none", "row", "column", "both").contains(scale)) {
      throw new UserError("scale=" + scale + ": it is none, row, column or both");
    }
    return new Epilogue(
        alpha,
        beta,
        bias,
        Activation.parse(values.text("act", "none")),
        scale.equals("row") || scale.equals("both"),
        scale.equals("column") || scale.equals("both"),
        values.number("gate", 0, 1, 0) == 1,
        values.number("residual", 0, 1, 0) == 1);
  }

  private static double decimal(String key, String text) {
    try {
      double value = Double.parseDouble(text);
      if (Double.isFinite(value)) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new UserError(key + "=" + text + ": it is a number");
  }
}
