package dev.warpwright.lower.tile;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Tile programs as text: work items, in each some pipelined loops one after the other, in loops and
 * inside each other, chains of GEMMs through fragments, normalisations between, weights that depend
 * on the item or not.
 */
final class RandomTilePrograms {
  private static final int T = 4;

  private final SplittableRandom random;
  private final List<String> params = new ArrayList<>();
  private final List<String> allocs = new ArrayList<>();
  private final StringBuilder body = new StringBuilder();
  private int names;
  private int stages;
  private String options = "";
  private String copying = "";
  private String multiplying = "";

  private RandomTilePrograms(long seed) {
    random = new SplittableRandom(seed);
  }

  /** A program; {@code consumers} of its attributes is left to the caller. */
  static String of(long seed) {
    return new RandomTilePrograms(seed).program();
  }

  private boolean coin() {
    return random.nextBoolean();
  }

  private String format(String text, Object... args) {
    return String.format(Locale.ROOT, text, args);
  }

  private String program() {
    boolean items = random.nextInt(5) > 0;
    int rows = items ? 1 + random.nextInt(5) : 1;
    int hold = random.nextInt(2);
    int lag = random.nextInt(2);
    stages = hold + lag + 1 + random.nextInt(3);
    options = format("[hold = %d, lag = %d, stages = %d]", hold, lag, stages);
    copying = lag > 0 && coin() ? " [inflight = 1]" : "";
    multiplying = hold > 0 && coin() ? " [inflight = 1]" : "";
    int count = 1 + random.nextInt(3);
    allocs.add("acc: f32[4, 4] fragment");
    allocs.add("h: f32[4, 4] " + (coin() ? "fragment" : "shared"));
    String row = coin() ? "t" : "m";
    if (row.equals("m")) {
      line("let m: i32 = t * 1");
    }
    line("tile.map (i in 4, j in 4) { h[i, j] = 0.5f32 }");
    boolean condition = random.nextInt(6) == 0;
    for (int i = 0; i < count; i++) {
      part(row, rows);
      if (condition) {
        line(
            "if " + row + " % 2 == 0 { tile.map (i in 4, j in 4) { h[i, j] = h[i, j] + 1.0f32 } }");
      }
    }
    params.add(format("y: f32[%d, 4]", rows * T));
    line(format("tile.copy y[%s * 4 +: 4, 0 +: 4] <- h[0 +: 4, 0 +: 4]", row));
    String inside = body.toString();
    String all = String.join("", allocs.stream().map(a -> "alloc " + a + "\n").toList());
    boolean early = coin();
    String work =
        items
            ? (early ? all : "")
                + format("persistent t in %d {\n", rows)
                + (early ? "" : all)
                + inside
                + "}\n"
            : all + "let t: i32 = 0\n" + inside;
    String blocks = coin() ? "bind bx: blockIdx.x in 1 {\n" + work + "}\n" : work;
    String resident = coin() ? format(" [resident = %d]", 64 * random.nextInt(12)) : "";
    return "primfunc f(" + String.join(", ", params) + ")" + resident + " {\n" + blocks + "}\n";
  }

  private void line(String text) {
    body.append(text).append('\n');
  }

  private void part(String row, int rows) {
    switch (random.nextInt(6)) {
      case 0, 1 -> gemm(row, rows, random.nextInt(3) == 0);
      case 2, 3 -> chain();
      case 4 -> normalise();
      default -> nested(row, rows);
    }
  }

  private String fresh(String name) {
    return name + names++;
  }

  /** {@code h = relu(A[item] · W)}, the second operand perhaps narrower. */
  private void gemm(String row, int rows, boolean other) {
    int k = 1 + random.nextInt(5);
    String a = fresh("A");
    String w = fresh("W");
    params.add(format("%s: f32[%d, %d]", a, rows * T, k * T));
    params.add(format("%s: f32[%d, 4]", w, k * T));
    String as = fresh("As");
    String ws = fresh("Ws");
    allocs.add(as + ": f32[4, 4] shared");
    allocs.add(ws + ": f32[4, 4] shared" + (other ? " layout (4:5),(4:1)" : ""));
    line("tile.fill acc[0 +: 4, 0 +: 4] = 0.0f32");
    line(format("pipeline k in %d %s {", k, options));
    line(
        format(
            "tile.copy %s[0 +: 4, 0 +: 4] <- %s[%s * 4 +: 4, k * 4 +: 4]%s", as, a, row, copying));
    line(format("tile.copy %s[0 +: 4, 0 +: 4] <- %s[k * 4 +: 4, 0 +: 4]%s", ws, w, copying));
    line(
        format(
            "tile.mma acc[0 +: 4, 0 +: 4] += %s[0 +: 4, 0 +: 4] * %s[0 +: 4, 0 +: 4]%s",
            as, ws, multiplying));
    line("}");
    relu();
  }

  private void relu() {
    line("tile.map (i in 4, j in 4) { h[i, j] = max(acc[i, j], 0.0f32) * 0.25f32 }");
  }

  /** Layers whose weights come by slices of K, in a loop over layers or not. */
  private void chain() {
    int layers = 1 + random.nextInt(3);
    int slices = coin() ? 1 : 2;
    int depth = T / slices;
    String w = fresh("W");
    String ws = fresh("Ws");
    params.add(format("%s: f32[%d, 4, 4]", w, layers));
    allocs.add(format("%s: f32[%d, 4] shared", ws, depth));
    line(format("for l in %d {", layers));
    line("tile.fill acc[0 +: 4, 0 +: 4] = 0.0f32");
    line(format("pipeline k in %d %s {", slices, options));
    line(
        format(
            "tile.copy %s[0 +: %d, 0 +: 4] <- %s[l, k * %d +: %d, 0 +: 4]%s",
            ws, depth, w, depth, depth, copying));
    line(
        format(
            "tile.mma acc[0 +: 4, 0 +: 4] += h[0 +: 4, k * %d +: %d] * %s[0 +: %d, 0 +: 4]%s",
            depth, depth, ws, depth, multiplying));
    line("}");
    relu();
    line("}");
  }

  private void normalise() {
    String sum = fresh("sum");
    allocs.add(sum + ": f32[4] fragment");
    line(format("tile.fill %s[0 +: 4] = 1.0f32", sum));
    line(format("tile.reduce sum (i in 4; j in 4) %s[i] += h[i, j]", sum));
    line(format("tile.map (i in 4, j in 4) { h[i, j] = h[i, j] / %s[i] }", sum));
  }

  /** A tile of the outer loop is used by all steps of the inner one. */
  private void nested(String row, int rows) {
    int outer = 1 + random.nextInt(3);
    int inner = 1 + random.nextInt(3);
    String a = fresh("A");
    String w = fresh("W");
    params.add(format("%s: f32[%d, %d]", a, rows * T, outer * T));
    params.add(format("%s: f32[%d, %d, 4]", w, outer, inner * T));
    String as = fresh("As");
    String ws = fresh("Ws");
    allocs.add(as + ": f32[4, 4] shared");
    allocs.add(ws + ": f32[4, 4] shared");
    line("tile.fill acc[0 +: 4, 0 +: 4] = 0.0f32");
    line(format("pipeline o in %d %s {", outer, options));
    line(
        format(
            "tile.copy %s[0 +: 4, 0 +: 4] <- %s[%s * 4 +: 4, o * 4 +: 4]%s", as, a, row, copying));
    line(format("pipeline k in %d %s {", inner, options));
    line(format("tile.copy %s[0 +: 4, 0 +: 4] <- %s[o, k * 4 +: 4, 0 +: 4]%s", ws, w, copying));
    line(
        format(
            "tile.mma acc[0 +: 4, 0 +: 4] += %s[0 +: 4, 0 +: 4] * %s[0 +: 4, 0 +: 4]%s",
            as, ws, multiplying));
    line("}");
    line("}");
    relu();
  }
}
