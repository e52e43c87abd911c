package dev.warpwright.lower.gpu;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One reciprocal for two: of 1 + e⁻ˣ of two elements that one register gets. Function units compute
 * an instruction of a warp in 8 cycles, multiplications take one, and sigmoid, SiLU and tanh are an
 * exponential and a reciprocal: three calls for two elements in place of four.
 *
 * <pre>{@code
 * rcp(1 + exp2(s))   →   a = 1 + exp2(s), b = 1 + exp2(t)
 * rcp(1 + exp2(t))       r = rcp(min(a, 2^62) * min(b, 2^62))
 *                        1 <= a ? sat(r * min(b, 2^62) - 2^-61) : a
 *                        1 <= b ? sat(r * min(a, 2^62) - 2^-61) : b
 * }</pre>
 *
 * <p>Neither element changes the other by more than rounding:
 *
 * <ul>
 *   <li>The bound keeps the product finite, and, as the lesser of a number and NaN is the number,
 *       an infinity or NaN to itself.
 *   <li>What is subtracted makes exactly 0 of the reciprocal of an infinity, and of all from 2^61
 *       on, so that {@code x * 0} is what it was: -0, and NaN of -∞. It is lost in rounding to f32
 *       of reciprocals above 2^-36. {@code u * sigmoid(v)} is up to 2^-61 of u off, which f16
 *       rounds to 0 for each u that sums of f16 reach; in bf16 it is within what {@code
 *       Approximations} states for |u| up to 2^41.
 *   <li>sat, to 0 … 1, makes 0 of NaN: the comparison brings it back. It is left out in {@code x *
 *       rcp(1 + exp2(c * x))}, SiLU, where the factor does.
 * </ul>
 *
 * <p>It takes two more additions, multiplications and the like of each element, three where NaN is
 * brought back. So values with many of their own for a call of function units, GELU by tanh, which
 * would wait for these instead, are left alone. So are other reciprocals: the product of what may
 * be less than 1 may be 0, and those of Mish are multiplied by up to 2^57.
 */
public final class SharedReciprocal {
  private static final Expr ONE = Exprs.f32(1);
  private static final Expr BOUND = Exprs.f32(0x1p62);
  private static final Expr LOST = Exprs.f32(-0x1p-61);

  /** So many operations for each call take less than it, with those that sharing takes. */
  private static final int OPERATIONS = 4;

  private final List<Map.Entry<Var, Expr>> bound = new ArrayList<>();
  private final Map<Expr, Var> quotients = new HashMap<>();

  /** Values of two elements. */
  public record Pair(Expr first, Expr second) {}

  /**
   * An element's reciprocal.
   *
   * @param own what it is of
   * @param other what the other element's is of, bounded
   * @param both the reciprocal of the product
   */
  private record Part(Var own, Var other, Var both) {
    Expr value() {
      return new Expr.Call(Intrinsics.FMA_SAT_F32, List.of(both, other, LOST), Type.F32);
    }

    Expr valueOrNan() {
      return new Expr.Select(new Expr.Binary(BinaryOp.LE, ONE, own), value(), own);
    }
  }

  /**
   * {@return two values of one formula, with a reciprocal for both of them}
   *
   * @param first of one element
   * @param second of the other, the same of other operands
   */
  public Pair of(Expr first, Expr second) {
    List<Expr.Call> ofFirst = reciprocals(first);
    List<Expr.Call> ofSecond = reciprocals(second);
    if (ofFirst.size() != ofSecond.size() || !waitsForFunctions(first)) {
      return new Pair(first, second);
    }
    Map<Expr, Part> parts = new HashMap<>();
    for (int i = 0; i < ofFirst.size(); i++) {
      Expr.Call one = ofFirst.get(i);
      Expr.Call other = ofSecond.get(i);
      if (!parts.containsKey(one) && !parts.containsKey(other) && !one.equals(other)) {
        share(one, other, parts);
      }
    }
    return new Pair(replaced(first, parts), replaced(second, parts));
  }

  /** What the values of pairs are computed from, ahead of what uses them. */
  public Stmt around(Stmt body) {
    Stmt result = body;
    for (Map.Entry<Var, Expr> value : bound.reversed()) {
      result = new Stmt.Let(value.getKey(), value.getValue(), result);
    }
    return result;
  }

  private void share(Expr.Call first, Expr.Call second, Map<Expr, Part> parts) {
    Var a = let("divisor", replaced(first.args().getFirst(), parts));
    Var b = let("divisor", replaced(second.args().getFirst(), parts));
    Var boundedA = let("bounded", new Expr.Select(Exprs.lt(a, BOUND), a, BOUND));
    Var boundedB = let("bounded", new Expr.Select(Exprs.lt(b, BOUND), b, BOUND));
    Var both = let("both", Exprs.call(MathOp.RCP_APPROX, Exprs.mul(boundedA, boundedB)));
    parts.put(first, new Part(a, boundedB, both));
    parts.put(second, new Part(b, boundedA, both));
  }

  private Var let(String name, Expr value) {
    Var var = new Var(name, Type.F32);
    bound.add(Map.entry(var, value));
    return var;
  }

  /**
   * Reciprocals of 1 + e⁻ˣ, inner ones first, that may be computed wherever the value is: not in an
   * arm of a choice, but behind the mask of a whole value where they read registers only.
   */
  private static List<Expr.Call> reciprocals(Expr value) {
    Set<Expr.Call> found = new LinkedHashSet<>();
    Expr masked = masked(value);
    new Rewriter() {
      @Override
      public Expr expr(Expr e) {
        if (e instanceof Expr.Select) {
          return e;
        }
        super.expr(e);
        if (e instanceof Expr.Call call && exponent(call) != null) {
          found.add(call);
        }
        return e;
      }
    }.expr(masked == null ? value : masked);
    return masked == null || found.stream().allMatch(SharedReciprocal::readsRegisters)
        ? List.copyOf(found)
        : List.of();
  }

  /** Whether function units take longer than all else of a value, what it says twice being one. */
  private static boolean waitsForFunctions(Expr value) {
    Set<Expr> seen = new HashSet<>();
    int[] count = new int[2];
    Walk.expressions(
        value,
        e -> {
          if (e.type().equals(Type.F32) && seen.add(e)) {
            boolean function =
                e instanceof Expr.Call call
                    && (call.op() == MathOp.RCP_APPROX || call.op() == MathOp.EXP2_APPROX);
            boolean operation =
                e instanceof Expr.Call || e instanceof Expr.Binary && quotient(e) == e;
            count[0] += function ? 1 : 0;
            count[1] += operation && !function ? 1 : 0;
          }
        });
    return count[1] <= OPERATIONS * count[0];
  }

  /** What a mask lets through, zero being elsewhere; null without one. */
  private static @Nullable Expr masked(Expr value) {
    return value instanceof Expr.Select(Expr _, Expr then, Expr otherwise)
            && Exprs.f32(0).equals(otherwise)
        ? then
        : null;
  }

  private static boolean readsRegisters(Expr e) {
    boolean[] all = {true};
    Walk.expressions(
        e,
        part ->
            all[0] &= !(part instanceof Expr.Load load) || load.buffer().scope() == Scope.LOCAL);
    return all[0];
  }

  /** r of 1 · r, as quotients are. */
  private static Expr quotient(Expr e) {
    return e instanceof Expr.Binary(BinaryOp op, Expr one, Expr reciprocal)
            && op == BinaryOp.MUL
            && ONE.equals(one)
        ? reciprocal
        : e;
  }

  /** The s of rcp(1 + exp2(s)). */
  private static @Nullable Expr exponent(Expr e) {
    if (!(e instanceof Expr.Call call)
        || call.op() != MathOp.RCP_APPROX
        || !(call.args().getFirst() instanceof Expr.Binary(BinaryOp op, Expr a, Expr b))
        || op != BinaryOp.ADD) {
      return null;
    }
    Expr power = ONE.equals(a) ? b : ONE.equals(b) ? a : null;
    return power instanceof Expr.Call inner && inner.op() == MathOp.EXP2_APPROX
        ? inner.args().getFirst()
        : null;
  }

  private Expr replaced(Expr value, Map<Expr, Part> parts) {
    return new Rewriter() {
      @Override
      public Expr expr(Expr e) {
        if (parts.get(e) instanceof Part part) {
          // Ahead of a mask, which would else be a branch around the choice.
          return quotients.computeIfAbsent(e, r -> let("quotient", part.valueOrNan()));
        }
        if (e instanceof Expr.Binary(BinaryOp op, Expr a, Expr b) && op == BinaryOp.MUL) {
          Expr ofB = quotient(b);
          if (parts.get(ofB) instanceof Part part && isMultiple(exponent(ofB), a)) {
            return Exprs.mul(expr(a), part.value());
          }
          Expr ofA = quotient(a);
          if (parts.get(ofA) instanceof Part part && isMultiple(exponent(ofA), b)) {
            return Exprs.mul(part.value(), expr(b));
          }
        }
        return super.expr(e);
      }
    }.expr(value);
  }

  /** Whether s is x times constants: NaN only where x is. */
  private static boolean isMultiple(@Nullable Expr s, Expr x) {
    return x.equals(s)
        || s instanceof Expr.Unary(UnaryOp negation, Expr a)
            && negation == UnaryOp.NEG
            && isMultiple(a, x)
        || s instanceof Expr.Binary(BinaryOp op, Expr a, Expr.FloatImm factor)
            && op == BinaryOp.MUL
            && factor.value() != 0
            && Double.isFinite(factor.value())
            && isMultiple(a, x);
  }
}
