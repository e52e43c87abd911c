package dev.warpwright.lower.flow;

import dev.warpwright.ir.PrimFunc;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Tile programs for warpgroups. Each begins with a GEMM, two GEMMs of one operand, a GEMM whose
 * first operand serves several steps, scores of a tile of queries and what they weigh, or rows in
 * registers; behind that come GEMMs whose first operand stays in registers, one by one or in a loop
 * over layers, with normalisations of rows between. Tiles come through one ring or several, or
 * stay; work is one tile a block, or items of persistent blocks; warpgroups share rows, or have
 * items of their own, or there are no roles.
 *
 * <p>All sums are exact with the arguments of {@link LoweringTest#exact}: in whatever order they
 * are made, results have the same bits.
 */
final class RandomFlowPrograms {
  private final SplittableRandom random;
  private final StringBuilder body = new StringBuilder();
  private final List<String> params = new ArrayList<>();
  private final Set<String> allocs = new LinkedHashSet<>();
  private final String type;
  private final int rows;
  private final int consumers;
  private final String share;
  private final int m;
  private final boolean persistent;
  private int names;

  /** Columns of the accumulators {@code acc$n} that the last GEMM left. */
  private int columns;

  private RandomFlowPrograms(long seed) {
    random = new SplittableRandom(seed);
    type = coin() ? "bf16" : "f16";
    boolean items = random.nextInt(4) == 0;
    consumers = random.nextInt(12) == 0 ? 0 : 1 + random.nextInt(items ? 3 : 2);
    share = items ? "items" : "rows";
    rows = items ? 64 : 64 * Math.max(1, consumers);
    m = pick(64, 100, 136) + pick(0, 64);
    persistent = share.equals("items") || random.nextInt(3) > 0;
  }

  static PrimFunc of(long seed) {
    return FlowPrograms.parse(new RandomFlowPrograms(seed).program());
  }

  private int pick(int... values) {
    return values[random.nextInt(values.length)];
  }

  private boolean coin() {
    return random.nextBoolean();
  }

  /** Adds text with holes: names and values in turn. */
  private void add(String text, Object... holes) {
    body.append(fill(text, holes));
  }

  private String fill(String text, Object... holes) {
    Map<String, Object> values = new LinkedHashMap<>(Map.of("T", type, "R", rows, "C", columns));
    for (int i = 0; i < holes.length; i += 2) {
      values.put((String) holes[i], holes[i + 1]);
    }
    return FlowPrograms.fill(text, values);
  }

  private void alloc(String text, Object... holes) {
    allocs.add("alloc " + fill(text, holes) + "\n");
  }

  private void param(String text, Object... holes) {
    params.add(fill(text, holes));
  }

  private String fresh(String name) {
    return name + names++;
  }

  private String loop(int hold) {
    String unrolled = random.nextInt(4) == 0 ? ", unrolled = 1" : "";
    int stages = hold + 1 + pick(0, 1, 2);
    return String.format(Locale.ROOT, "[hold = %d, stages = %d%s]", hold, stages, unrolled);
  }

  private String product(String acc, String a, String b, int n, String suffix, boolean underWay) {
    return String.format(
        Locale.ROOT,
        "tile.mma %s[0 +: %d, 0 +: %d] += %s * %s%s [%sinstr = \"wgmma.m64n%dk16.f32.%s%s\"]%n",
        acc,
        rows,
        n,
        a,
        b,
        suffix.contains(".tb") ? "" : "^T",
        underWay ? "inflight = 1, " : "",
        n,
        type,
        suffix);
  }

  /** Accumulators of so many columns, which hold nothing yet. */
  private void zeros(String acc, int n) {
    alloc("$A: f32[$R, $N] fragment", "A", acc, "N", n);
    add("tile.fill $A[0 +: $R, 0 +: $N] = 0.0f32\n", "A", acc, "N", n);
  }

  private String program() {
    int items = (m + rows - 1) / rows;
    int blocks = 1 + random.nextInt(2);
    if (share.equals("items")) {
      input();
    } else {
      switch (random.nextInt(8)) {
        case 0, 1 -> gemm(false);
        case 2, 3 -> gemm(true);
        case 4 -> nested();
        case 5, 6 -> scores();
        default -> input();
      }
    }
    for (int parts = random.nextInt(3); parts > 0; parts--) {
      if (random.nextInt(3) == 0) {
        normalise();
      }
      if (coin()) {
        layer("a" + columns, columns, pick(16, 32, 64, 96));
      } else {
        layers();
      }
    }
    result();
    String inside = String.join("", allocs) + body;
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
    String resident = coin() ? "resident = 16384" : "resident = 0";
    String roles =
        consumers == 0
            ? ""
            : String.format(Locale.ROOT, ", consumers = %d, share = \"%s\"", consumers, share);
    return "primfunc f("
        + String.join(", ", params)
        + ") ["
        + resident
        + roles
        + "] {\n"
        + work
        + "}\n";
  }

  /** Rows that are multiples of 16 bytes mostly, which tensor maps describe. */
  private int depth() {
    int k = 8 * pick(3, 8, 9, 17);
    return random.nextInt(6) == 0 ? k + pick(-2, -1) : k;
  }

  /** A GEMM, or two with the same first operand, one of which gates the other. */
  private void gemm(boolean gated) {
    int k = depth();
    int n = pick(16, 32, 64);
    int hold = random.nextInt(2);
    String acc = "acc" + n;
    param("A: $T[$M, $K]", "M", m, "K", k);
    param("B: $T[$N, $K]", "N", n, "K", k);
    alloc("As: $T[$R, 64] shared");
    alloc("Bs: $T[$N, 64] shared", "N", n);
    zeros(acc, n);
    if (gated) {
      param("G: $T[$N, $K]", "N", n, "K", k);
      alloc("Gs: $T[$N, 64] shared", "N", n);
      zeros("gate", n);
    }
    add("pipeline k in ($K + 63) / 64 $L {\n", "K", k, "L", loop(hold));
    add("tile.copy As[0 +: $R, 0 +: 64] <- A[m * $R +: $R, k * 64 +: 64]\n");
    add("tile.copy Bs[0 +: $N, 0 +: 64] <- B[0 +: $N, k * 64 +: 64]\n", "N", n);
    String as = fill("As[0 +: $R, 0 +: 64]");
    body.append(
        gated ? fill("tile.copy Gs[0 +: $N, 0 +: 64] <- G[0 +: $N, k * 64 +: 64]\n", "N", n) : "");
    body.append(product(acc, as, fill("Bs[0 +: $N, 0 +: 64]", "N", n), n, "", hold == 1));
    if (gated) {
      body.append(product("gate", as, fill("Gs[0 +: $N, 0 +: 64]", "N", n), n, "", hold == 1));
    }
    body.append("}\n");
    if (gated) {
      add(
          "tile.map (r in $R, j in $N) {\n$A[r, j] = select(gate[r, j] <= 0.0f32, 0.5f32, $A[r,"
              + " j])\n}\n",
          "A",
          acc,
          "N",
          n);
    }
    columns = n;
  }

  /** A tile of the outer loop is used by all steps of the inner one. */
  private void nested() {
    int k = 8 * pick(3, 8, 17);
    int n = pick(16, 32, 64);
    param("A: $T[$M, $K]", "M", m, "K", k);
    param("B: $T[$N, $K]", "N", n, "K", k);
    alloc("As: $T[$R, 64] shared");
    alloc("Bs: $T[$N, 32] shared", "N", n);
    zeros("acc" + n, n);
    add("pipeline o in ($K + 63) / 64 $L {\n", "K", k, "L", loop(0));
    add("tile.copy As[0 +: $R, 0 +: 64] <- A[m * $R +: $R, o * 64 +: 64]\n");
    add("pipeline k in 2 $L {\n", "L", loop(0));
    add("tile.copy Bs[0 +: $N, 0 +: 32] <- B[0 +: $N, o * 64 + k * 32 +: 32]\n", "N", n);
    String b = fill("Bs[0 +: $N, 0 +: 32]", "N", n);
    body.append(product("acc" + n, fill("As[0 +: $R, k * 32 +: 32]"), b, n, "", false));
    body.append("}\n}\n");
    columns = n;
  }

  /** What keys score for queries weighs values; keys and values come through one ring or two. */
  private void scores() {
    int n = pick(32, 64);
    int keys = pick(32, 64);
    int tiles = 1 + random.nextInt(3);
    String loop = loop(0);
    param("A: $T[$M, 64]", "M", m);
    param("B: $T[$K, 64]", "K", keys * tiles);
    param("V: $T[$K, $N]", "K", keys * tiles, "N", n);
    alloc("Qs: $T[$R, 64] shared");
    alloc("Bs: $T[$K, 64] shared", "K", keys);
    alloc("Vs: $T[$K, $N] shared", "K", keys, "N", n);
    alloc("p: $T[$R, $K] fragment", "K", keys);
    alloc("top: f32[$R] fragment");
    zeros("acc" + n, n);
    add("tile.fill top[0 +: $R] = -1024.0f32\n");
    add("pipeline q in 1 [stages = 1] {\n");
    add("tile.copy Qs[0 +: $R, 0 +: 64] <- A[m * $R +: $R, 0 +: 64]\n");
    add("$F t in $N {\n", "F", coin() ? "for" : "unroll", "N", tiles);
    zeros("s", keys);
    add("pipeline k in 1 $L {\n", "L", loop);
    add("tile.copy Bs[0 +: $K, 0 +: 64] <- B[t * $K +: $K, 0 +: 64]\n", "K", keys);
    String b = fill("Bs[0 +: $K, 0 +: 64]", "K", keys);
    body.append(product("s", fill("Qs[0 +: $R, 0 +: 64]"), b, keys, "", false));
    body.append("}\n");
    add("tile.reduce max (r in $R; j in $K) top[r] max= s[r, j]\n", "K", keys);
    add(
        "tile.map (r in $R, j in $K) {\np[r, j] = $T(max(s[r, j] - top[r], -3.0f32))\n}\n",
        "K",
        keys);
    add("pipeline v in 1 $L {\n", "L", coin() ? loop : loop(0));
    add("tile.copy Vs[0 +: $K, 0 +: $N] <- V[t * $K +: $K, 0 +: $N]\n", "K", keys, "N", n);
    String v = fill("Vs[0 +: $K, 0 +: $N]", "K", keys, "N", n);
    body.append(product("acc" + n, fill("p[0 +: $R, 0 +: $K]", "K", keys), v, n, ".ra.tb", false));
    body.append("}\n}\n}\n");
    columns = n;
  }

  /** Rows that go to registers straight, and the first layer. */
  private void input() {
    int k = pick(16, 32, 64);
    param("A: $T[$M, $K]", "M", m, "K", k);
    alloc("x: $T[$R, $K] fragment", "K", k);
    String attrs = persistent && coin() ? " [prefetch = 1]" : "";
    add("tile.copy x[0 +: $R, 0 +: $K] <- A[m * $R +: $R, 0 +: $K]$P\n", "K", k, "P", attrs);
    columns = k;
    product("x", k, pick(16, 32, 64));
  }

  /** A function of rows: their maximum taken away, or a part of their sum. */
  private void normalise() {
    String v = fresh("row");
    alloc("$V: f32[$R] fragment", "V", v);
    boolean max = coin();
    add("tile.fill $V[0 +: $R] = $X\n", "V", v, "X", max ? "-1024.0f32" : "1.0f32");
    add(
        max
            ? "tile.reduce max (r in $R; j in $C) $V[r] max= acc$C[r, j]\n"
            : "tile.reduce sum (r in $R; j in $C) $V[r] += acc$C[r, j] * 0.5f32\n",
        "V",
        v);
    if (coin()) {
      add("tile.map (r in $R) {\n$V[r] = $V[r] * 0.0625f32\n}\n", "V", v);
    }
    add("tile.map (r in $R, j in $C) {\nacc$C[r, j] = acc$C[r, j] - $V[r]\n}\n", "V", v);
  }

  private String activated() {
    String x = "acc" + columns + "[r, j]";
    return coin()
        ? "select(" + x + " <= 0.0f32, 0.0f32, " + x + ")"
        : "max(" + x + " * 0.5f32, -3.0f32)";
  }

  /** What is in the accumulators is the next product's operand. */
  private void layer(String a, int depth, int n) {
    alloc("$A: $T[$R, $D] fragment", "A", a, "D", depth);
    add(
        "tile.map (r in $R, j in $D) {\n$A[r, j] = $T($V)\n}\n",
        "A",
        a,
        "D",
        depth,
        "V",
        activated());
    product(a, depth, n);
  }

  private void product(String a, int depth, int n) {
    String w = fresh("W");
    int step = depth % 32 == 0 && coin() ? 32 : depth;
    int hold = random.nextInt(2);
    param("$W: $T[$N, $D]", "W", w, "N", n, "D", depth);
    alloc("$Ws: $T[$N, $S] shared", "W", w, "N", n, "S", step);
    zeros("acc" + n, n);
    add("pipeline k in $X $L {\n", "X", depth / step, "L", loop(hold));
    add(
        "tile.copy $Ws[0 +: $N, 0 +: $S] <- $W[0 +: $N, k * $S +: $S]\n",
        "W",
        w,
        "N",
        n,
        "S",
        step);
    String part = fill("$A[0 +: $R, k * $S +: $S]", "A", a, "S", step);
    String b = fill("$Ws[0 +: $N, 0 +: $S]", "W", w, "N", n, "S", step);
    body.append(product("acc" + n, part, b, n, ".ra", hold == 1));
    body.append("}\n");
    columns = n;
  }

  /** Layers of one width, in a loop that stays one or not. */
  private void layers() {
    int count = 1 + random.nextInt(3);
    int width = columns;
    String w = fresh("W");
    String a = "a" + width;
    param("$W: $T[$X, $N, $N]", "W", w, "X", count, "N", width);
    alloc("$Ws: $T[$N, $N] shared", "W", w, "N", width);
    alloc("$A: $T[$R, $N] fragment", "A", a, "N", width);
    add("$F l in $X {\n", "F", coin() ? "for" : "unroll", "X", count);
    add("tile.map (r in $R, j in $C) {\n$A[r, j] = $T($V)\n}\n", "A", a, "V", activated());
    zeros("acc" + width, width);
    add("pipeline k in 1 $L {\n", "L", loop(0));
    add("tile.copy $Ws[0 +: $N, 0 +: $N] <- $W[l, 0 +: $N, 0 +: $N]\n", "W", w, "N", width);
    String b = fill("$Ws[0 +: $N, 0 +: $N]", "W", w, "N", width);
    String operand = fill("$A[0 +: $R, 0 +: $N]", "A", a, "N", width);
    body.append(product("acc" + width, operand, b, width, ".ra", false));
    body.append("}\n}\n");
  }

  private void result() {
    String value = "acc$C[r, j]";
    if (random.nextInt(3) == 0) {
      // Behind the last sums results need not be exact, only rounded alike.
      alloc("norm: f32[$R] fragment");
      add("tile.fill norm[0 +: $R] = 1.0f32\n");
      add("tile.reduce sum (r in $R; j in $C) norm[r] += max(acc$C[r, j], 0.0f32)\n");
      value = "(acc$C[r, j] / norm[r])";
    }
    param("C: $T[$M, $C]", "M", m);
    boolean staged = coin();
    alloc(staged ? "Cs: $T[$R, $C] shared" : "out: $T[$R, $C] fragment");
    String to = staged ? "Cs" : "out";
    add(
        "tile.map (r in $R, j in $C) {\n$O[r, j] = $T($V * 0.5f32)\n}\n",
        "O",
        to,
        "V",
        fill(value));
    add("tile.copy C[m * $R +: $R, 0 +: $C] <- $O[0 +: $R, 0 +: $C]\n", "O", to);
  }
}
