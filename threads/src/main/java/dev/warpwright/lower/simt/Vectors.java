package dev.warpwright.lower.simt;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Affine;
import dev.warpwright.ir.visit.Substitution;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What can be told about iterations of a loop as lanes of one vector. */
final class Vectors {
  /** The widest access of a thread, in bytes. */
  private static final int WIDEST = 16;

  private static final long ANYTHING = 1L << 40;

  private final Var lane;
  private final int lanes;

  /**
   * Iterations of a loop.
   *
   * @param loop from 0, of constant extent
   */
  Vectors(Stmt.For loop) {
    this.lane = loop.var();
    this.lanes = loop.extent() instanceof Expr.IntImm n ? (int) n.value() : 0;
  }

  int lanes() {
    return lanes;
  }

  /** The expression in the first lane. */
  Expr first(Expr e) {
    return Substitution.ofVars(Map.of(lane, Exprs.i32(0))).expr(e);
  }

  List<Expr> first(List<Expr> indices) {
    return indices.stream().map(this::first).toList();
  }

  /** The indices of all lanes at once. */
  List<Expr> all(List<Expr> indices) {
    List<Expr> result = new ArrayList<>(first(indices));
    result.set(result.size() - 1, new Expr.Ramp(result.getLast(), 1, lanes));
    return result;
  }

  /**
   * Whether the lanes are one aligned access of the buffer: consecutive elements, starting at a
   * multiple of their number.
   */
  boolean isOneAccess(Buffer buffer, List<Expr> indices) {
    int bytes = lanes * buffer.dtype().bytes();
    if (lanes < 2
        || Integer.bitCount(lanes) != 1
        || bytes > WIDEST
        || bytes > buffer.alignment()
        || !isConsecutive(indices)) {
      return false;
    }
    Layout layout = buffer.layout();
    long stride = 1;
    for (int d = buffer.rank() - 1; d >= 0; d--) {
      Expr index = first(indices.get(d));
      if (layout != null) {
        List<Mode> modes = layout.dimensions().get(d);
        if (modes.size() > 1) {
          return false;
        }
        stride = modes.getFirst().stride();
      }
      if (divisor(index) * stride % lanes != 0 || d == buffer.rank() - 1 && stride != 1) {
        return false;
      }
      if (layout == null && d > 0) {
        stride *= buffer.extent(d);
      }
    }
    return layout == null || layout.swizzle().isIdentity() || lanes <= 1 << layout.swizzle().base();
  }

  private boolean isConsecutive(List<Expr> indices) {
    for (Expr index : indices.subList(0, indices.size() - 1)) {
      if (Affine.mentions(index, Set.of(lane))) {
        return false;
      }
    }
    return Affine.of(indices.getLast(), Set.of(lane))
        .filter(form -> form.coefficient(lane) == 1)
        .isPresent();
  }

  /**
   * A condition as the same for all lanes, or null if it may differ: {@code 4 * i + lane < 4 * n}
   * is {@code 4 * i < 4 * n}.
   */
  @Nullable Expr uniform(Expr condition) {
    if (!Affine.mentions(condition, Set.of(lane))) {
      return condition;
    }
    if (!(condition instanceof Expr.Binary(BinaryOp op, Expr a, Expr b))) {
      return null;
    }
    if (op == BinaryOp.AND) {
      Expr left = uniform(a);
      Expr right = uniform(b);
      return left == null || right == null ? null : Exprs.and(left, right);
    }
    boolean together =
        op == BinaryOp.LT
            && b instanceof Expr.IntImm end
            && end.value() % lanes == 0
            && divisor(first(a)) % lanes == 0
            && Affine.of(a, Set.of(lane)).filter(f -> f.coefficient(lane) == 1).isPresent();
    return together ? Exprs.lt(first(a), b) : null;
  }

  /** A number that divides the value; a large one for 0. */
  private static long divisor(Expr e) {
    if (e instanceof Expr.IntImm imm) {
      return imm.value() == 0 ? ANYTHING : Math.abs(imm.value());
    }
    if (!(e instanceof Expr.Binary(BinaryOp op, Expr a, Expr b))) {
      return 1;
    }
    return switch (op) {
      case ADD, SUB, MIN, MAX -> gcd(divisor(a), divisor(b));
      case MUL -> Math.min(ANYTHING, divisor(a) * Math.min(divisor(b), 1L << 20));
      case MOD -> b instanceof Expr.IntImm ? gcd(divisor(a), divisor(b)) : 1;
      case DIV ->
          b instanceof Expr.IntImm by && by.value() > 0 && divisor(a) % by.value() == 0
              ? divisor(a) / by.value()
              : 1;
      case BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, EQ, NE, LT, LE, GT, GE, AND, OR -> 1;
    };
  }

  private static long gcd(long a, long b) {
    return b == 0 ? a : gcd(b, a % b);
  }
}
