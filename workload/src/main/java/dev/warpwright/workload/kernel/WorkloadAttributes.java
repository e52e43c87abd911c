package dev.warpwright.workload.kernel;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.MatrixRows;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Reads what a kernel computes from its attributes and buffers. */
final class WorkloadAttributes {
  private WorkloadAttributes() {}

  /** As {@link BoundWorkload#of}. */
  static BoundWorkload read(Kernel kernel) {
    String name = kernel.attrs().getString("workload");
    return switch (name) {
      case "gemm_nt", "gemm_nn", "gemm_tn", "gemm_tt" -> gemm(kernel, name);
      case "ffn_gelu" -> ffn(kernel);
      case null ->
          throw new UserError(
              "kernel "
                  + kernel.name()
                  + " does not say what it computes; add [workload = \"gemm_nt\"] or"
                  + " \"ffn_gelu\"");
      default ->
          throw new UserError(
              "kernel "
                  + kernel.name()
                  + ": workload \""
                  + name
                  + "\" is none of \"gemm_nt\", \"gemm_nn\", \"gemm_tn\", \"gemm_tt\" and"
                  + " \"ffn_gelu\"");
    };
  }

  private static BoundWorkload.Ffn ffn(Kernel kernel) {
    Buffer x = matrix(kernel, "X");
    Buffer w1 = matrix(kernel, "W1");
    Buffer h = matrix(kernel, "H");
    Buffer w2 = matrix(kernel, "W2");
    Buffer y = matrix(kernel, "Y");
    for (Buffer buffer : List.of(x, w1, h, w2, y)) {
      if (buffer.rank() != 2) {
        throw new UserError(
            "kernel " + kernel.name() + ": " + buffer.name() + " is no matrix: " + buffer);
      }
    }
    checkProduct(kernel, x, w1, h, GemmWorkload.Layout.NT, Epilogue.NONE, null);
    checkProduct(kernel, h, w2, y, GemmWorkload.Layout.NT, Epilogue.NONE, null);
    if (h.dtype() != x.dtype()) {
      throw new UserError("kernel " + kernel.name() + ": H is " + h.dtype() + ", X " + x.dtype());
    }
    return new BoundWorkload.Ffn(x, w1, h, w2, y);
  }

  private static Buffer matrix(Kernel kernel, String name) {
    for (Buffer buffer : kernel.buffers()) {
      if (buffer.name().equals(name)) {
        if (!MatrixRows.are(buffer)) {
          throw new UserError(
              "kernel " + kernel.name() + ": " + name + " is no row-major matrix: " + buffer);
        }
        if (!buffer.hasConstantShape()) {
          throw new UserError(
              "kernel "
                  + kernel.name()
                  + ": the shape of "
                  + buffer
                  + " is open; give its scalars");
        }
        if (buffer.storageElements() > Integer.MAX_VALUE) {
          throw new UserError(
              "kernel "
                  + kernel.name()
                  + ": "
                  + name
                  + " has more than 2^31 elements, which indices of 32 bits do not reach");
        }
        return buffer;
      }
    }
    throw new UserError(
        "kernel "
            + kernel.name()
            + ": workload \""
            + kernel.attrs().getString("workload")
            + "\" needs a buffer "
            + name);
  }

  private static BoundWorkload.Gemm gemm(Kernel kernel, String name) {
    Buffer c = matrix(kernel, "C");
    GemmWorkload.Layout layout =
        GemmWorkload.Layout.valueOf(name.substring("gemm_".length()).toUpperCase(Locale.ROOT));
    String none = kernel.attrs().getString(GemmWorkload.OPERANDS);
    DType operands = none == null ? null : DType.parse(none);
    Buffer a =
        operands == null
            ? matrix(kernel, "A")
            : empty("A", operands, c, layout.transposedA(), c.rank() - 2);
    Buffer b =
        operands == null
            ? matrix(kernel, "B")
            : empty("B", operands, c, !layout.transposedB(), c.rank() - 1);
    String arithmetic = kernel.attrs().getString("arithmetic");
    Precision precision =
        arithmetic == null ? Precision.of(a.dtype()) : precision(kernel, arithmetic, a.dtype());
    Epilogue epilogue = epilogue(kernel);
    List<Buffer> extras =
        epilogue.operands().stream().map(operand -> extra(kernel, operand, c, epilogue)).toList();
    Buffer group =
        kernel.buffers().stream()
            .filter(buffer -> buffer.name().equals(GemmWorkload.GROUP))
            .findFirst()
            .orElse(null);
    checkProduct(kernel, a, b, c, layout, epilogue, group);
    try {
      return new BoundWorkload.Gemm(a, b, c, layout, precision, epilogue, extras, group);
    } catch (IllegalArgumentException e) {
      throw new UserError("kernel " + kernel.name() + ": " + e.getMessage());
    }
  }

  /**
   * An operand without elements.
   *
   * @param across whether its rows are steps of the sums, of which there are none
   * @param dimension of the result whose length it has
   */
  private static Buffer empty(String name, DType dtype, Buffer c, boolean across, int dimension) {
    long length = c.extent(dimension);
    return Buffer.of(name, dtype, Scope.GLOBAL, across ? 0 : length, across ? length : 0);
  }

  private static Epilogue epilogue(Kernel kernel) {
    String text = kernel.attrs().getString("epilogue");
    try {
      return text == null ? Epilogue.NONE : Epilogue.parse(text);
    } catch (IllegalArgumentException e) {
      throw new UserError("kernel " + kernel.name() + ": epilogue " + e.getMessage());
    }
  }

  /** A buffer that an epilogue reads. */
  private static Buffer extra(
      Kernel kernel, Epilogue.Operand operand, Buffer c, Epilogue epilogue) {
    List<Long> shape =
        switch (operand) {
          case ROW_SCALE -> List.of(c.extent(c.rank() - 2));
          case COLUMN_SCALE, BIAS -> List.of(c.extent(c.rank() - 1) * (epilogue.glu() ? 2 : 1));
          case ADDEND, GATE, RESIDUAL -> IntStream.range(0, c.rank()).mapToObj(c::extent).toList();
        };
    DType dtype = operand.isMatrix() ? c.dtype() : DType.F32;
    Buffer expected =
        Buffer.of(
            operand.buffer(),
            dtype,
            Scope.GLOBAL,
            shape.stream().mapToLong(Long::longValue).toArray());
    return kernel.buffers().stream()
        .filter(
            b ->
                b.name().equals(operand.buffer())
                    && b.dtype() == dtype
                    && b.shape().equals(expected.shape())
                    && Objects.equals(b.layout(), operand.isMatrix() ? c.layout() : null))
        .findFirst()
        .orElseThrow(
            () ->
                new UserError(
                    String.format(
                        Locale.ROOT,
                        "kernel %s: its epilogue needs a buffer %s",
                        kernel.name(),
                        expected)));
  }

  private static Precision precision(Kernel kernel, String text, DType operands) {
    try {
      return Precision.of(operands, text);
    } catch (IllegalArgumentException e) {
      throw new UserError("kernel " + kernel.name() + ": " + e.getMessage());
    }
  }

  /** Rows or columns of a matrix, or of each of several. */
  private static long extent(Buffer buffer, int dimension) {
    return buffer.extent(buffer.rank() - 2 + dimension);
  }

  private static boolean isTable(Buffer group, Buffer c) {
    return group.dtype() == DType.I32
        && group.rank() == 1
        && group.layout() == null
        && group.hasConstantShape()
        && c.rank() == 3
        && group.extent(0) == c.extent(0);
  }

  private static void checkProduct(
      Kernel kernel,
      Buffer a,
      Buffer b,
      Buffer c,
      GemmWorkload.Layout layout,
      Epilogue epilogue,
      @Nullable Buffer group) {
    boolean ta = layout.transposedA();
    boolean tb = layout.transposedB();
    boolean fits =
        extent(a, ta ? 1 : 0) == extent(c, 0)
            && extent(a, ta ? 0 : 1) == extent(b, tb ? 1 : 0)
            && extent(b, tb ? 0 : 1) == extent(c, 1) * (epilogue.glu() ? 2 : 1);
    for (Buffer operand : List.of(a, b)) {
      boolean shared = operand.rank() == 2;
      boolean chosen = operand == b && group != null;
      fits &= shared ? !chosen : c.rank() == 3 && (chosen || operand.extent(0) == c.extent(0));
    }
    if (group != null && !isTable(group, c)) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "kernel %s: %s must be an i32 for each of the GEMMs of %s",
              kernel.name(),
              group,
              c));
    }
    if (!fits || a.dtype() != b.dtype()) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "kernel %s: %s = %s%s · %s%s does not fit %s, %s, %s",
              kernel.name(),
              c.name(),
              a.name(),
              ta ? "ᵀ" : "",
              b.name(),
              tb ? "ᵀ" : "",
              c,
              a,
              b));
    }
  }
}
