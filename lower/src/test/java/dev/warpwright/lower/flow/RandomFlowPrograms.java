package dev.warpwright.lower.flow;

import dev.warpwright.ir.PrimFunc;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Tile programs for warpgroups: a GEMM, behind it further ones whose first operand stays in
 * registers; the tiles of all come through one ring or several, or stay; work items or blocks; one
 * or two consumers, which share rows.
 */
final class RandomFlowPrograms {
  private final SplittableRandom random;
  private final StringBuilder body = new StringBuilder();
  private final List<String> params = new ArrayList<>();
  private final List<String> allocs = new ArrayList<>();
  private final String type;
  private final int rows;
  private final int consumers;

  private RandomFlowPrograms(long seed) {
    random = new SplittableRandom(seed);
    type = random.nextBoolean() ? "bf16" : "f16";
    consumers = 1 + random.nextInt(2);
    rows = 64 * consumers;
  }

  static PrimFunc of(long seed) {
    return FlowPrograms.parse(new RandomFlowPrograms(seed).program());
  }

  private int pick(int... values) {
    return values[random.nextInt(values.length)];
  }

  private void add(String text, Map<String, ?> values) {
    body.append(FlowPrograms.fill(text, values));
  }

  private String loop() {
    int hold = random.nextInt(2);
    return String.format(Locale.ROOT, "[hold = %d, stages = %d]", hold, hold + 1 + pick(1, 2, 3));
  }

  private String product(String a, String b, int n, boolean registers, String loop) {
    String inflight = loop.contains("hold = 1") ? "inflight = 1, " : "";
    return String.format(
        Locale.ROOT,
        "tile.mma acc%d[0 +: %d, 0 +: %d] += %s * %s^T [%sinstr = \"wgmma.m64n%dk16.f32.%s%s\"]%n",
        n,
        rows,
        n,
        a,
        b,
        inflight,
        n,
        type,
        registers ? ".ra" : "");
  }

  private String program() {
    int m = pick(64, 100, 200) * consumers / (consumers == 1 ? 1 : 2) + pick(0, 37);
    int k = 8 * pick(3, 8, 9, 17);
    int n = pick(16, 32, 64);
    int layers = random.nextInt(3);
    int items = (m + rows - 1) / rows;
    int blocks = 1 + random.nextInt(2);
    boolean persistent = random.nextInt(3) > 0;
    params.add(String.format(Locale.ROOT, "A: %s[%d, %d]", type, m, k));
    params.add(String.format(Locale.ROOT, "B: %s[%d, %d]", type, n, k));
    Map<String, Object> values =
        Map.of("T", type, "R", rows, "K", k, "N", n, "LOOP", loop(), "DEPTH", 64);
    allocs.add(FlowPrograms.fill("accN: f32[$R, $N] fragment", values).replace("accN", "acc" + n));
    allocs.add(FlowPrograms.fill("As: $T[$R, 64] shared", values));
    allocs.add(FlowPrograms.fill("Bs: $T[$N, 64] shared", values));
    add("tile.fill acc$N[0 +: $R, 0 +: $N] = 0.0f32\n", values);
    add("pipeline k in ($K + 63) / 64 $LOOP {\n", values);
    add("tile.copy As[0 +: $R, 0 +: 64] <- A[m * $R +: $R, k * 64 +: 64]\n", values);
    add("tile.copy Bs[0 +: $N, 0 +: 64] <- B[0 +: $N, k * 64 +: 64]\n", values);
    body.append(
        product(
            FlowPrograms.fill("As[0 +: $R, 0 +: 64]", values),
            FlowPrograms.fill("Bs[0 +: $N, 0 +: 64]", values),
            n,
            false,
            String.valueOf(values.get("LOOP"))));
    body.append("}\n");
    for (int l = 0; l < layers; l++) {
      n = layer(l, n);
    }
    params.add(String.format(Locale.ROOT, "C: %s[%d, %d]", type, m, n));
    Map<String, Object> last = Map.of("T", type, "R", rows, "N", n);
    if (random.nextBoolean()) {
      allocs.add(FlowPrograms.fill("Cs: $T[$R, $N] shared", last));
      add("tile.map (r in $R, j in $N) {\nCs[r, j] = $T(acc$N[r, j] * 0.5f32)\n}\n", last);
      add("tile.copy C[m * $R +: $R, 0 +: $N] <- Cs[0 +: $R, 0 +: $N]\n", last);
    } else {
      allocs.add(FlowPrograms.fill("out: $T[$R, $N] fragment", last));
      add("tile.map (r in $R, j in $N) {\nout[r, j] = $T(acc$N[r, j])\n}\n", last);
      add("tile.copy C[m * $R +: $R, 0 +: $N] <- out[0 +: $R, 0 +: $N]\n", last);
    }
    String inside =
        String.join("", allocs.stream().distinct().map(a -> "alloc " + a + "\n").toList()) + body;
    String work =
        persistent
            ? String.format(
                Locale.ROOT,
                "bind bx: blockIdx.x in %d {%npersistent item in (%d - bx + %d) / %d {%nlet m: i32"
                    + " = bx + item * %d%n%s}%n}%n",
                blocks,
                items,
                blocks - 1,
                blocks,
                blocks,
                inside)
            : String.format(Locale.ROOT, "bind m: blockIdx.x in %d {%n%s}%n", items, inside);
    String resident = random.nextBoolean() ? "resident = 8192, " : "";
    return "primfunc f("
        + String.join(", ", params)
        + ") ["
        + resident
        + "consumers = "
        + consumers
        + ", share = \"rows\"] {\n"
        + work
        + "}\n";
  }

  /** What is in the accumulators is the next product's operand; gives its columns. */
  private int layer(int l, int depth) {
    int n = pick(16, 32, 64, 96);
    int step = depth % 32 == 0 && random.nextBoolean() ? 32 : depth;
    String loop = loop();
    Map<String, Object> values =
        Map.of(
            "T",
            type,
            "R",
            rows,
            "D",
            depth,
            "N",
            n,
            "S",
            step,
            "L",
            l,
            "LOOP",
            loop,
            "C",
            depth / step);
    params.add(FlowPrograms.fill("W$L: $T[$N, $D]", values));
    allocs.add(FlowPrograms.fill("a$D: $T[$R, $D] fragment", values));
    allocs.add(FlowPrograms.fill("acc$N: f32[$R, $N] fragment", values));
    allocs.add(FlowPrograms.fill("Ws$L: $T[$N, $S] shared", values));
    String value =
        pick(0, 1) == 0
            ? "select(acc$D[r, j] <= 0.0f32, 0.0f32, acc$D[r, j])"
            : "max(acc$D[r, j] * 0.5f32, -3.0f32)";
    add("tile.map (r in $R, j in $D) {\na$D[r, j] = $T(" + value + ")\n}\n", values);
    add("tile.fill acc$N[0 +: $R, 0 +: $N] = 0.0f32\n", values);
    add("pipeline k in $C $LOOP {\n", values);
    add("tile.copy Ws$L[0 +: $N, 0 +: $S] <- W$L[0 +: $N, k * $S +: $S]\n", values);
    body.append(
        product(
            FlowPrograms.fill("a$D[0 +: $R, k * $S +: $S]", values),
            FlowPrograms.fill("Ws$L[0 +: $N, 0 +: $S]", values),
            n,
            true,
            loop));
    body.append("}\n");
    return n;
  }
}
