package dev.warpwright.ir.arith;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.text.IrPrinter;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Random expressions keep their values; {@code -Dseed=} repeats a run. */
class SimplifierFuzzTest {
  private static final long SEED = Long.getLong("seed", 20250314L);
  private final Var x = Var.index("x");
  private final Var y = Var.index("y");
  private final Var z = Var.index("z");
  private final Var w = Var.index("w");
  private final List<Var> vars = List.of(x, y, z, w);
  private final Map<Var, Interval> ranges =
      Map.of(
          x,
          new Interval(0, 3),
          y,
          new Interval(-5, 9),
          z,
          new Interval(0, 63),
          w,
          new Interval(-100, 100));

  private Map<Var, Long> values(SplittableRandom random) {
    Map<Var, Long> values = new HashMap<>();
    ranges.forEach((v, range) -> values.put(v, random.nextLong(range.min(), range.max() + 1)));
    return values;
  }

  /** Empty where the expression overflows, which index arithmetic must not. */
  private static OptionalLong value(Expr e, Map<Var, Long> values) {
    try {
      return OptionalLong.of(IndexMath.eval(e, values));
    } catch (ArithmeticException overflow) {
      return OptionalLong.empty();
    }
  }

  @Test
  void keepsValuesAndIsIdempotent() {
    SplittableRandom random = new SplittableRandom(SEED);
    Simplifier simplifier = new Simplifier(Bounds.of(ranges));
    for (int i = 0; i < 4000; i++) {
      Expr e =
          i % 3 == 0
              ? IndexMath.condition(random, vars, 3)
              : IndexMath.random(random, vars, 2 + i % 4);
      Expr simple = simplifier.expr(e);
      int round = i;
      Supplier<String> where =
          () ->
              String.format(
                  Locale.ROOT,
                  "seed %d, case %d: %s\n  to %s",
                  SEED,
                  round,
                  IrPrinter.text(e),
                  IrPrinter.text(simple));
      Interval interval = simplifier.bounds().of(e);
      for (int k = 0; k < 12; k++) {
        Map<Var, Long> values = values(random);
        OptionalLong defined = value(e, values);
        if (defined.isEmpty()) {
          continue;
        }
        long value = defined.getAsLong();
        assertThat(IndexMath.eval(simple, values))
            .as(() -> where.get() + " at " + values)
            .isEqualTo(value);
        assertThat(interval.contains(value))
            .as(() -> where.get() + ", bounds " + interval)
            .isTrue();
      }
      assertThat(simplifier.expr(simple)).as(where).isEqualTo(simple);
    }
  }

  @Test
  void assumptionsAreUsedSoundly() {
    SplittableRandom random = new SplittableRandom(SEED + 1);
    int decided = 0;
    for (int i = 0; i < 3000; i++) {
      Expr known = IndexMath.condition(random, vars, 2);
      Expr e = IndexMath.condition(random, vars, 2);
      Simplifier simplifier =
          new Simplifier(
              i % 2 == 0
                  ? Bounds.of(ranges).assuming(known)
                  : Bounds.of(ranges).assumingNot(known));
      Expr simple = simplifier.expr(e);
      decided += simple instanceof Expr.IntImm ? 1 : 0;
      for (int k = 0; k < 20; k++) {
        Map<Var, Long> values = values(random);
        if ((IndexMath.eval(known, values) != 0) == (i % 2 == 0)) {
          assertThat(IndexMath.eval(simple, values))
              .as("seed %s, case %s: %s given %s to %s", SEED, i, e, known, simple)
              .isEqualTo(IndexMath.eval(e, values));
        }
      }
    }
    assertThat(decided).isGreaterThan(300);
  }

  @Test
  void intervalsContainEveryResult() {
    SplittableRandom random = new SplittableRandom(SEED + 3);
    for (BinaryOp op : BinaryOp.values()) {
      for (int i = 0; i < 200; i++) {
        long lowA = random.nextLong(-20, 20);
        long lowB = op == BinaryOp.SHL || op == BinaryOp.SHR ? 0 : random.nextLong(-20, 20);
        Interval a = new Interval(lowA, lowA + random.nextLong(20));
        Interval b = new Interval(lowB, lowB + random.nextLong(8));
        Bounds bounds = Bounds.of(Map.of(x, a, y, b));
        Expr e = new Expr.Binary(op, x, y);
        if (op == BinaryOp.AND || op == BinaryOp.OR) {
          continue;
        }
        for (int k = 0; k < 10; k++) {
          long valueA = random.nextLong(a.min(), a.max() + 1);
          long valueB = random.nextLong(b.min(), b.max() + 1);
          if (valueB == 0 && (op == BinaryOp.DIV || op == BinaryOp.MOD)) {
            continue;
          }
          long value = IndexMath.eval(e, Map.of(x, valueA, y, valueB));
          assertThat(bounds.of(e).contains(value))
              .as("%s %s %s = %s not in %s", valueA, op, valueB, value, bounds.of(e))
              .isTrue();
        }
      }
    }
  }
}
