package dev.warpwright.verify;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * How a kernel divides its scalar parameters: {@code (K + 63) / 64} makes steps of 64, {@code it /
 * 4} of numbers that run through those steps makes turns of a ring of 256, and {@code tiles / 16 *
 * 4} of tiles of 64 makes quarters of 1024. Where such a unit ends is where mistakes show.
 */
final class ScalarUnits {
  /** A turn of more steps than this is not worth its time. */
  private static final double MOST_STEPS = 16;

  /** Nor are more tiles, even of one step each. */
  private static final double MOST_TILES = 128;

  private final Set<Var> scalars = new HashSet<>();
  private final Map<Var, Map<Var, Double>> known = new HashMap<>();
  private final Map<Var, TreeSet<Double>> units = new HashMap<>();

  private ScalarUnits() {}

  /** Reads a kernel. */
  static ScalarUnits of(Kernel kernel) {
    ScalarUnits all = new ScalarUnits();
    for (ScalarParam scalar : kernel.scalars()) {
      all.scalars.add(scalar.var());
      all.units.put(scalar.var(), new TreeSet<>());
    }
    if (all.scalars.isEmpty()) {
      return all;
    }
    kernel.bindings().forEach(binding -> all.read(binding.extent()));
    Walk.all(
        kernel.body(),
        s -> {
          switch (s) {
            case Stmt.Let(Var var, Expr value, Stmt body) -> all.known.put(var, all.read(value));
            case Stmt.For loop -> all.known.put(loop.var(), all.read(loop.extent()));
            default -> {}
          }
        },
        all::read);
    return all;
  }

  /** The smallest unit of a scalar, 1 if there is none. */
  long least(ScalarParam scalar) {
    TreeSet<Double> found = found(scalar);
    return found.isEmpty() ? 1 : Math.round(found.getFirst());
  }

  /** Its greatest unit of no more than 16 of the smallest. */
  long greatest(ScalarParam scalar) {
    return upTo(MOST_STEPS, scalar);
  }

  /** Its greatest unit of no more than 128 of the smallest. */
  long most(ScalarParam scalar) {
    return upTo(MOST_TILES, scalar);
  }

  private long upTo(double steps, ScalarParam scalar) {
    TreeSet<Double> found = found(scalar);
    if (found.isEmpty()) {
      return 1;
    }
    Double greatest = found.floor(found.getFirst() * steps);
    return Math.round(greatest == null ? found.getFirst() : greatest);
  }

  private TreeSet<Double> found(ScalarParam scalar) {
    return units.getOrDefault(scalar.var(), new TreeSet<>());
  }

  /** How much of each scalar makes one of an expression's value; notes the units that end in it. */
  private Map<Var, Double> read(Expr e) {
    return switch (e) {
      case Var v -> scalars.contains(v) ? Map.of(v, 1.0) : known.getOrDefault(v, Map.of());
      case Expr.Cast cast -> read(cast.a());
      case Expr.Select select -> joined(read(select.then()), read(select.otherwise()));
      case Expr.Binary(BinaryOp op, Expr a, Expr b) -> binary(op, a, b);
      case Expr.Load _,
          Expr.Call _,
          Expr.AddressOf _,
          Expr.Bitcast _,
          Expr.Ramp _,
          Expr.Broadcast _,
          Expr.Unary _,
          Expr.IntImm _,
          Expr.FloatImm _ ->
          Map.of();
    };
  }

  private Map<Var, Double> binary(BinaryOp op, Expr a, Expr b) {
    double constant = b instanceof Expr.IntImm imm ? imm.value() : 0;
    return switch (op) {
      case ADD, SUB, MIN, MAX, BIT_AND, BIT_OR, BIT_XOR -> joined(read(a), read(b));
      case MUL -> constant > 1 ? scaled(read(a), 1 / constant) : joined(read(a), read(b));
      case DIV -> constant > 1 ? divided(read(a), constant) : Map.of();
      case SHR -> constant > 0 ? divided(read(a), Math.scalb(1, (int) constant)) : Map.of();
      case SHL -> constant > 0 ? scaled(read(a), Math.scalb(1, -(int) constant)) : Map.of();
      case MOD -> {
        // How often a ring has come round, modulo 2, is a phase: two turns, and no unit of its own.
        if (constant > 1
            && !(a instanceof Expr.Binary(BinaryOp inner, _, _) && inner == BinaryOp.DIV)) {
          divided(read(a), constant);
        }
        yield Map.of();
      }
      case EQ, NE, LT, LE, GT, GE, AND, OR -> Map.of();
    };
  }

  private Map<Var, Double> divided(Map<Var, Double> of, double divisor) {
    Map<Var, Double> result = scaled(of, divisor);
    result.forEach(
        (scalar, unit) -> {
          TreeSet<Double> found = units.get(scalar);
          if (found != null && unit > 1) {
            found.add(unit);
          }
        });
    return result;
  }

  private static Map<Var, Double> scaled(Map<Var, Double> of, double factor) {
    Map<Var, Double> result = new HashMap<>();
    of.forEach((scalar, unit) -> result.put(scalar, unit * factor));
    return result;
  }

  /** Of sums and the like: where a scalar stands in both, its greater unit. */
  private static Map<Var, Double> joined(Map<Var, Double> a, Map<Var, Double> b) {
    Map<Var, Double> result = new HashMap<>(a);
    b.forEach((scalar, unit) -> result.merge(scalar, unit, Math::max));
    return result;
  }
}
