package dev.warpwright.jvm;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.type.DType;
import java.util.ArrayList;
import java.util.List;

/** From coordinates to the offset in the array. */
final class Indexing {
  private Indexing() {}

  /**
   * Offset of the first element of an access, a scalar {@code i32}.
   *
   * @throws IllegalArgumentException if the access has several lanes that are not consecutive
   *     elements
   */
  static Expr offset(Buffer buffer, List<Expr> indices) {
    List<Expr> first = new ArrayList<>(indices);
    if (!indices.isEmpty() && !indices.getLast().type().isScalar()) {
      first.set(first.size() - 1, contiguousBase(buffer, indices.getLast()));
    }
    if (buffer.layout() != null) {
      return buffer.layout().offset(first);
    }
    Expr offset = Exprs.i32(0);
    for (int i = 0; i < first.size(); i++) {
      Expr index = Exprs.cast(DType.I32, first.get(i));
      offset = i == 0 ? index : Exprs.add(Exprs.mul(offset, buffer.extent(i)), index);
    }
    return offset;
  }

  private static Expr contiguousBase(Buffer buffer, Expr index) {
    if (!(index instanceof Expr.Ramp(Expr base, long stride, int lanes)) || stride != 1) {
      throw JvmTypes.refused("a vector access to " + buffer.name() + " that is not contiguous");
    }
    Layout layout = buffer.layout();
    if (layout != null) {
      List<Mode> modes = layout.dimensions().getLast();
      Mode inner = modes.getFirst();
      boolean within =
          modes.size() == 1 || (inner.extent() % lanes == 0 && divisor(base) % lanes == 0);
      if (inner.stride() != 1 || !within || !layout.swizzle().isIdentity()) {
        throw JvmTypes.refused(
            "a vector access to " + buffer.name() + " that its layout " + layout + " scatters");
      }
    }
    return base;
  }

  /** A number that divides the expression, as great as is easily seen; 0 for zero itself. */
  static long divisor(Expr e) {
    return switch (e) {
      case Expr.IntImm imm -> Math.abs(imm.value());
      case Expr.Binary(var op, Expr a, Expr b) ->
          switch (op) {
            case ADD, SUB -> gcd(divisor(a), divisor(b));
            case MUL -> divisor(a) * divisor(b);
            case DIV, MOD, MIN, MAX, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR -> 1;
            case EQ, NE, LT, LE, GT, GE, AND, OR -> 1;
          };
      default -> 1;
    };
  }

  private static long gcd(long a, long b) {
    return b == 0 ? a : gcd(b, a % b);
  }
}
