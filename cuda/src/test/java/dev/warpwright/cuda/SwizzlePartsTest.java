package dev.warpwright.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Layout.Swizzle;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.arith.Interval;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.ScalarEval;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Offsets that are split for a swizzle are the offsets of the layout; {@code -Dseed=} repeats. */
class SwizzlePartsTest {
  private static final long SEED = Long.getLong("seed", 20261120L);
  private static final int ROUNDS = 2000;
  private static final int MAX = 63;

  private final Random random = new Random(SEED);
  private final List<Var> vars = List.of(Var.index("a"), Var.index("b"), Var.index("c"));

  private int of(int... choices) {
    return choices[random.nextInt(choices.length)];
  }

  private Swizzle swizzle() {
    int bits = 1 + random.nextInt(3);
    return new Swizzle(bits, random.nextInt(5), bits + random.nextInt(2));
  }

  /** Strides that fall below, into and above the bits of a swizzle. */
  private Layout layout(Swizzle swizzle) {
    List<List<Mode>> dimensions = new ArrayList<>();
    for (int d = 1 + random.nextInt(3); d > 0; d--) {
      List<Mode> modes = new ArrayList<>();
      for (int m = 1 + random.nextInt(2); m > 0; m--) {
        modes.add(new Mode(of(2, 3, 4, 8, 16), of(1, 2, 7, 8, 24, 64, 72, 512, 1024, 1536)));
      }
      dimensions.add(modes);
    }
    return new Layout(dimensions, swizzle);
  }

  private Expr index(int depth) {
    Expr v = vars.get(random.nextInt(vars.size()));
    if (depth == 0) {
      return random.nextInt(4) == 0 ? Exprs.i32(random.nextInt(40)) : v;
    }
    return switch (random.nextInt(5)) {
      case 0 -> Exprs.mul(index(depth - 1), of(2, 3, 8, 16, 64));
      case 1 -> Exprs.add(index(depth - 1), index(depth - 1));
      case 2 -> Exprs.mod(index(depth - 1), of(2, 3, 8, 32));
      case 3 -> Exprs.div(index(depth - 1), of(2, 4, 8));
      default -> v;
    };
  }

  @Test
  void outsideAndSwizzledInsideAreTheWhole() {
    System.out.println("SwizzlePartsTest seed: " + SEED);
    int split = 0;
    int changed = 0;
    int alone = 0;
    for (int round = 0; round < ROUNDS; round++) {
      Map<Var, Interval> ranges = new HashMap<>();
      vars.forEach(v -> ranges.put(v, new Interval(0, MAX)));
      Facts facts = new Facts(Bounds.of(ranges));
      // A variable that is known to be a multiple of something.
      Var bound = vars.getFirst();
      Var inner = Var.index("inner");
      int factor = of(1, 16, 64);
      facts.bind(bound, Exprs.mul(inner, factor));
      FlatIndex flat = new FlatIndex(facts);
      Swizzle swizzle = swizzle();
      Layout layout = layout(swizzle);
      List<Expr> indices = new ArrayList<>();
      layout.dimensions().forEach(d -> indices.add(index(2)));
      Buffer buffer =
          new Buffer(
              "s",
              DType.BF16,
              layout.dimensions().stream().map(d -> Exprs.i32(1 << 20)).toList(),
              Scope.SHARED,
              layout,
              16);
      FlatIndex.Parts parts = flat.swizzleParts(flat.offset(buffer, indices), swizzle);
      split += Exprs.isConst(parts.outside(), 0) ? 0 : 1;
      for (int sample = 0; sample < 8; sample++) {
        Map<Var, Long> values = new HashMap<>();
        long innermost = random.nextInt(MAX / factor + 1);
        values.put(inner, innermost);
        values.put(bound, innermost * factor);
        values.put(vars.get(1), (long) random.nextInt(MAX + 1));
        values.put(vars.get(2), (long) random.nextInt(MAX + 1));
        long[] at = indices.stream().mapToLong(e -> ScalarEval.eval(e, values)).toArray();
        long inside = ScalarEval.eval(parts.inside(), values);
        long whole = ScalarEval.eval(parts.outside(), values) + swizzle.apply(inside);
        changed += swizzle.apply(inside) == inside ? 0 : 1;
        if (flat.isLeftAlone(parts.inside(), swizzle)) {
          alone++;
          assertThat(swizzle.apply(inside)).as("seed %d, round %d", SEED, round).isEqualTo(inside);
        }
        assertThat(whole)
            .as("seed %d, round %d: %s at %s with %s", SEED, round, layout, indices, values)
            .isEqualTo(layout.offset(at));
      }
    }
    assertThat(split).as("offsets of which a part stays outside").isGreaterThan(ROUNDS / 4);
    assertThat(changed).as("offsets that the swizzle changes").isGreaterThan(ROUNDS);
    assertThat(alone).as("offsets that are too small for the swizzle").isGreaterThan(ROUNDS / 4);
  }
}
