package dev.warpwright.cli.hostile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Orders of tiles, products and devices with sizes that nobody has. */
final class HostileOrders implements Hostile {
  private static final List<String> ORDERS =
      List.of(
          "row",
          "column",
          "serpentine",
          "grouped:4",
          "grouped:0",
          "grouped:2147483647",
          "morton",
          "hilbert",
          "nested:4",
          "nested:0",
          "explicit:0.0,0.1,1.0,1.1",
          "explicit:",
          "row:2",
          "grouped",
          "explicit:0,0;0,1");

  @Override
  public List<String> prepare(Random random, Path folder) throws IOException {
    List<String> args = new ArrayList<>();
    switch (random.nextInt(60)) {
      default -> orders(random, folder, args, Odd.of(random, List.of("search", "show", "score")));
      case 1, 2, 3, 4, 5, 6 -> measured(random, args);
      case 7, 8, 9, 10, 11, 12, 13, 14, 15 -> analyzed(random, folder, args);
      case 16, 17, 18 -> {
        args.addAll(List.of("ladder", "--predict", "--no-chart", shape(random)));
        maybe(random, args, "--device=", List.of("A100", "T4", "H200", "h100", "4090"));
      }
    }
    if (random.nextInt(6) == 0) {
      int at = random.nextInt(args.size());
      args.set(at, TextMutator.mutate(random, args.get(at), true));
    }
    if (random.nextInt(10) == 0) {
      args.add("--json");
    }
    args.removeIf(arg -> arg.contains("detach") || arg.equals("explore"));
    return args;
  }

  private static String shape(Random random) {
    long size = random.nextBoolean() ? Odd.number(random) : 1 + random.nextInt(5000);
    return Odd.of(random, List.of("MNK=" + size, "MN=" + size, "M=" + size));
  }

  private static void orders(Random random, Path folder, List<String> args, String task)
      throws IOException {
    args.addAll(List.of("order", task));
    long m = random.nextInt(6) == 0 ? Odd.number(random) : 1 + random.nextInt(9);
    long n = random.nextInt(6) == 0 ? Odd.number(random) : 1 + random.nextInt(9);
    args.add("grid=" + m + "x" + n);
    if (task.equals("search")) {
      args.add("seconds=1");
    }
    maybe(random, args, "capacity=", List.of("1", "2", "4", "9", "0", "9223372036854775807"));
    maybe(random, args, "policy=", List.of("lru", "fifo", "optimal", "none"));
    maybe(random, args, "depth=", List.of("1", "2", "0", "5", "1000000"));
    maybe(random, args, "chained=", List.of("0", "2", "3", "999999999"));
    maybe(random, args, "results=", List.of("past", "cached", ""));
    maybe(random, args, "at=", List.of("1", "2", "0", "132", "2147483647"));
    if (!task.equals("search") || random.nextInt(8) == 0) {
      maybe(random, args, "order=", ORDERS);
      if (random.nextInt(3) == 0) {
        String text = "t1 = 1\nOrder 0: [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)]\n";
        Path file =
            Files.writeString(folder.resolve("o.txt"), TextMutator.mutate(random, text, false));
        args.add("file=" + file);
      }
    }
    maybe(random, args, "--svg=", List.of(folder + "/o.svg"));
    maybe(random, args, "--csv=", List.of(folder + "/o.csv"));
  }

  private static void measured(Random random, List<String> args) {
    args.addAll(List.of("order", "measure", shape(random), "--no-counters"));
    maybe(random, args, "K=", List.of("64", "0", "4096"));
    maybe(random, args, "tile=", List.of("128x128", "0x0", "1x1", "64x256,128x128", "x", "-1x2"));
    maybe(random, args, "order=", List.of("row,hilbert", "grouped:8", "explicit:0.0", ""));
    args.add("from=" + Odd.of(random, List.of("recorded", "gpu", "recorded", "elsewhere")));
    maybe(random, args, "gpu=", List.of("h200", "a100", "none"));
  }

  private static void analyzed(Random random, Path folder, List<String> args) {
    args.add("analyze");
    switch (random.nextInt(4)) {
      case 0 -> args.addAll(List.of("gemm", shape(random)));
      case 1 -> args.addAll(List.of("ffn", "M=" + Odd.number(random), "D=" + Odd.number(random)));
      case 2 ->
          args.addAll(List.of("attention", "M=" + Odd.number(random), "S=" + Odd.number(random)));
      default -> {
        args.add("model=" + Odd.of(random, List.of("llama3-8b", "llama3-70b", "gpt3", "none")));
        args.add("M=" + Odd.number(random));
      }
    }
    maybe(random, args, "H=", List.of("14336", "0", "9223372036854775807"));
    maybe(random, args, "batch=", List.of("1", "0", "4611686018427387904"));
    maybe(random, args, "gpu=", List.of("a100,a40", "h200", "x", ",", ""));
    maybe(random, args, "dtype=", List.of("f32", "fp8", "int8", "bf16", "f128"));
    maybe(random, args, "--svg=", List.of(folder + "/o.svg"));
  }

  private static void maybe(Random random, List<String> args, String key, List<String> values) {
    if (random.nextInt(3) == 0) {
      boolean odd = random.nextInt(6) == 0;
      String value = odd ? Odd.word(random) : Odd.of(random, values);
      args.add(key + (key.startsWith("--") ? Odd.of(random, values) : value));
    }
  }
}
