package dev.warpwright.target.intrinsic;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.target.MatrixDescriptor;
import dev.warpwright.target.intrinsic.TargetIntrinsic.Drives;
import dev.warpwright.target.intrinsic.TargetIntrinsic.Unit;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What the hardware asks of operands beyond their types: constants, ranges, and tiles that tensor
 * maps and descriptors can describe.
 */
final class OperandRules {
  private static final long MAX_ARRIVALS = (1 << 20) - 1;
  private static final int STEP_BYTES = WgmmaGemm.DEPTH_BYTES;

  private OperandRules() {}

  /** One line; null if nothing is certainly wrong. */
  static @Nullable String problem(TargetIntrinsic intrinsic, Expr.Call call) {
    if (intrinsic.takesConstant() && constant(call, 0).isEmpty()) {
      return intrinsic.text() + " needs a constant, not " + IrPrinter.text(call.args().getFirst());
    }
    if (!(intrinsic.effect() instanceof Drives(Unit unit))) {
      return null;
    }
    return switch (unit) {
      case REGISTER_FILE -> range(intrinsic, call, 0, 24, 256, 8);
      case NAMED_BARRIER -> {
        String id = range(intrinsic, call, 0, 1, 15, 1);
        yield id != null ? id : range(intrinsic, call, 1, 32, 1024, 32);
      }
      case MBARRIER ->
          intrinsic == HopperIntrinsics.MBARRIER_INIT
              ? range(intrinsic, call, 1, 1, MAX_ARRIVALS, 1)
              : null;
      case WARPGROUP_MMA -> product(intrinsic, call);
      case BULK_COPY -> copy(intrinsic, call);
      case CLUSTER, PROXY, COUNTER, CLOCK, CACHE, LAUNCHES -> null;
    };
  }

  private static OptionalLong constant(Expr.Call call, int operand) {
    return call.args().get(operand) instanceof Expr.IntImm imm
        ? OptionalLong.of(imm.value())
        : OptionalLong.empty();
  }

  /** A constant outside of {@code min … max}, or no multiple of {@code step}. */
  private static @Nullable String range(
      TargetIntrinsic intrinsic, Expr.Call call, int operand, long min, long max, int step) {
    OptionalLong value = constant(call, operand);
    if (value.isEmpty()
        || (value.getAsLong() >= min
            && value.getAsLong() <= max
            && value.getAsLong() % step == 0)) {
      return null;
    }
    return String.format(
        Locale.ROOT,
        "operand '%s' of %s is %d, not %sfrom %d to %d",
        intrinsic.operands().get(operand).name(),
        intrinsic.text(),
        value.getAsLong(),
        step == 1 ? "" : "a multiple of " + step + " ",
        min,
        max);
  }

  private static @Nullable String copy(TargetIntrinsic intrinsic, Expr.Call call) {
    if (intrinsic.takesConstant()) {
      return range(intrinsic, call, 0, 0, Integer.MAX_VALUE, 1);
    }
    if (intrinsic == HopperIntrinsics.BULK_LOAD_LINEAR) {
      return linear(intrinsic, call);
    }
    try {
      TensorMaps.spec(call);
      return null;
    } catch (UserError e) {
      return e.getMessage();
    }
  }

  /** Bytes of one type, in sixteens, to and from multiples of 16. */
  private static @Nullable String linear(TargetIntrinsic intrinsic, Expr.Call call) {
    OptionalLong rows = constant(call, 3);
    OptionalLong columns = constant(call, 4);
    if (rows.isEmpty() || columns.isEmpty()) {
      return intrinsic.text() + " needs a constant number of rows and columns";
    }
    Buffer to = ((Expr.AddressOf) call.args().get(0)).buffer();
    Buffer from = ((Expr.AddressOf) call.args().get(1)).buffer();
    if (to.dtype() != from.dtype()) {
      return String.format(
          Locale.ROOT,
          "%s of %s (%s) to %s (%s): it converts nothing",
          intrinsic.text(),
          from.name(),
          from.dtype(),
          to.name(),
          to.dtype());
    }
    long bytes = rows.getAsLong() * columns.getAsLong() * to.dtype().bytes();
    return bytes > 0 && bytes % 16 == 0 && to.alignment() % 16 == 0 && from.alignment() % 16 == 0
        ? null
        : String.format(
            Locale.ROOT,
            "%s of %d bytes from %s, aligned to %d, to %s, aligned to %d: all must be multiples of"
                + " 16",
            intrinsic.text(),
            bytes,
            from.name(),
            from.alignment(),
            to.name(),
            to.alignment());
  }

  private static @Nullable String product(TargetIntrinsic intrinsic, Expr.Call call) {
    WgmmaGemm product = HopperIntrinsics.wgmma(intrinsic);
    if (product == null) {
      // The wait counts at most 7 groups.
      return intrinsic.takesConstant() ? range(intrinsic, call, 0, 0, 7, 1) : null;
    }
    int rows = product.rows();
    String a =
        product.fromRegisters()
            ? null
            : product.mnMajorA()
                ? across(intrinsic, call, 1, rows, product.depth())
                : operand(intrinsic, call, 1, rows);
    if (a != null) {
      return a;
    }
    return product.mnMajorB()
        ? across(intrinsic, call, 2, product.columns(), product.depth())
        : operand(intrinsic, call, 2, product.columns());
  }

  /** {@code depth} rows of panels of columns, from a group of 8 rows on. */
  private static @Nullable String across(
      TargetIntrinsic intrinsic, Expr.Call call, int operand, int columns, int depth) {
    Expr.AddressOf start = (Expr.AddressOf) call.args().get(operand);
    Buffer buffer = start.buffer();
    try {
      MatrixDescriptor.of(buffer);
    } catch (UserError e) {
      return e.getMessage();
    }
    List<Expr> indices = start.indices();
    long width = buffer.extent(buffer.rank() - 1);
    long panels = MatrixDescriptor.panelBytes(buffer) == 0 ? 1 : buffer.extent(buffer.rank() - 3);
    long panel =
        panels > 1 && indices.get(buffer.rank() - 3) instanceof Expr.IntImm imm ? imm.value() : 0;
    long row = indices.get(buffer.rank() - 2) instanceof Expr.IntImm imm ? imm.value() : 0;
    long column = indices.getLast() instanceof Expr.IntImm imm ? imm.value() : 0;
    if (row % 8 == 0
        && column == 0
        && row + depth <= buffer.extent(buffer.rank() - 2)
        && panel * width + columns <= panels * width) {
      return null;
    }
    return String.format(
            Locale.ROOT,
            "operand '%s' of %s reads %d rows of %d columns from row %d, column %d of %s on; it"
                + " must",
            intrinsic.operands().get(operand).name(),
            intrinsic.text(),
            depth,
            columns,
            row,
            column,
            buffer.name())
        + String.format(
            Locale.ROOT,
            " begin at multiples of 8 rows, at column 0, and stay within %d panels of %d columns",
            panels,
            width);
  }

  /** Rows × 32 bytes of a swizzled tile, from a group of 8 rows and a multiple of 32 bytes on. */
  private static @Nullable String operand(
      TargetIntrinsic intrinsic, Expr.Call call, int operand, int rows) {
    Expr.AddressOf start = (Expr.AddressOf) call.args().get(operand);
    Buffer buffer = start.buffer();
    try {
      MatrixDescriptor.of(buffer);
    } catch (UserError e) {
      return e.getMessage();
    }
    List<Expr> indices = start.indices();
    int bytes = buffer.dtype().bytes();
    long row = indices.get(buffer.rank() - 2) instanceof Expr.IntImm imm ? imm.value() : 0;
    long column = indices.getLast() instanceof Expr.IntImm imm ? imm.value() * bytes : 0;
    long height = buffer.extent(buffer.rank() - 2);
    long width = buffer.extent(buffer.rank() - 1) * bytes;
    if (row % 8 == 0
        && column % STEP_BYTES == 0
        && row + rows <= height
        && column + STEP_BYTES <= width) {
      return null;
    }
    return String.format(
            Locale.ROOT,
            "operand '%s' of %s reads %d rows of %d bytes from row %d, byte %d of %s on; it must"
                + " begin",
            intrinsic.operands().get(operand).name(),
            intrinsic.text(),
            rows,
            STEP_BYTES,
            row,
            column,
            buffer.name())
        + String.format(
            Locale.ROOT,
            " at multiples of 8 rows and %d bytes and stay within %d rows of %d bytes",
            STEP_BYTES,
            height,
            width);
  }
}
