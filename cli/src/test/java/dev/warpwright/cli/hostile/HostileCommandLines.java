package dev.warpwright.cli.hostile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Options and arguments of all commands, with values of each other. */
final class HostileCommandLines implements Hostile {
  private static final List<String> COMMANDS =
      List.of(
          "run", "plan", "kernel", "check", "perf", "tune", "explain", "accept", "db", "jobs",
          "order", "analyze", "ladder", "export", "devices", "version", "help", "");
  private static final List<String> OPTIONS =
      List.of(
          "--json",
          "--help",
          "--target",
          "--batch",
          "--precision",
          "--arch",
          "--seed",
          "--time",
          "--rtol",
          "--atol",
          "--image",
          "--rounds",
          "--set",
          "--attr",
          "--print",
          "--cuda",
          "--simulate",
          "--schedules",
          "--sms",
          "--counters",
          "--keep",
          "--no-chart",
          "--predict",
          "--device",
          "--rung",
          "--untuned",
          "--seconds",
          "--input",
          "--expect",
          "--file",
          "--unknown");

  @Override
  public List<String> prepare(Random random, Path folder) throws IOException {
    String kernel =
        Files.writeString(folder.resolve("k.kernel"), Samples.kernel(random)).toString();
    Path good = Samples.model(random, "onnx");
    String model = Files.copy(good, folder.resolve("m.onnx")).toString();
    List<String> args = new ArrayList<>(List.of(Odd.of(random, COMMANDS)));
    List<String> words =
        List.of(
            kernel,
            model,
            "gemm",
            "search",
            "show",
            "list",
            "watch",
            "3",
            "grid=3x3",
            "M=16",
            "MNK=64",
            "capacity=4",
            "ladder:naive",
            "all",
            "cpu",
            "sim",
            "sm_90a",
            "mlp:64,10:relu",
            "/dev/null",
            folder.toString(),
            folder + "/none",
            "order=row",
            "1e-3",
            "f16",
            "7");
    for (int i = random.nextInt(7); i > 0; i--) {
      switch (random.nextInt(6)) {
        case 0, 1 -> args.add(Odd.of(random, OPTIONS));
        case 2 -> args.add(Odd.of(random, OPTIONS) + "=" + Odd.of(random, words));
        case 3 -> args.add(Odd.of(random, OPTIONS) + "=" + Odd.word(random));
        case 4 -> args.add(Odd.of(random, words));
        default -> args.add(Odd.word(random));
      }
    }
    args.removeIf(arg -> arg.contains("detach") || arg.startsWith("O=") || arg.startsWith("@"));
    if (List.of("tune", "perf", "explain", "accept", "db").contains(args.getFirst())) {
      args.add("--db=" + folder + "/t.db");
    }
    if (args.getFirst().equals("ladder")) {
      args.add("--no-chart");
    }
    if (args.getFirst().equals("check")) {
      args.remove("all");
      args.add("--schedules=1");
    }
    if (args.contains("export")) {
      args.addAll(List.of("-o", folder + "/out"));
    }
    return args.getFirst().isEmpty() && random.nextBoolean() ? args.subList(1, args.size()) : args;
  }
}
