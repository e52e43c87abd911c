package dev.warpwright.cli.hostile;

import dev.warpwright.ir.testing.RandomPrograms;
import dev.warpwright.ir.text.IrPrinter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Kernels in text, changed token by token and line by line, printed, checked and run. */
final class HostileKernels implements Hostile {
  @Override
  public List<String> prepare(Random random, Path folder) throws IOException {
    int task = random.nextInt(12);
    boolean runs = task >= 7;
    String text = text(random);
    if (random.nextInt(20) > 0) {
      text = TextMutator.mutate(random, text, runs);
    }
    String file = Files.writeString(folder.resolve("k.kernel"), text).toString();
    List<String> args = new ArrayList<>();
    args.addAll(
        switch (task) {
          case 0, 1, 2 -> List.of("kernel", file);
          case 3 -> List.of("kernel", file, "--print");
          case 4, 5, 6 -> List.of("kernel", file, "--cuda");
          case 7, 8 -> List.of("kernel", file, "--simulate", "--seed=1");
          case 9 -> List.of("kernel", file, "--run", "--target=cpu", "--seed=1");
          case 10 -> List.of("check", file, "--schedules=1", "--seed=1", "--sms=2");
          default -> List.of("export", file, "--target=sm_90a", "-o", folder + "/out");
        });
    if (runs && task != 11 || random.nextInt(3) == 0) {
      long rows = runs ? 1 + random.nextInt(20) : Odd.number(random);
      args.add((task == 11 ? "M=" : "--batch=") + rows);
    }
    if (random.nextInt(8) == 0) {
      args.add(Odd.of(random, List.of("M", "N", "K", "MN", "MNK")) + "=" + number(random, runs));
    }
    if (random.nextInt(10) == 0 && task != 11) {
      String order =
          Odd.of(random, List.of("row", "grouped:0", "grouped:4", "hilbert", "explicit:1"));
      args.add("--attr=order=" + order);
    }
    return args;
  }

  private static long number(Random random, boolean small) {
    return small ? Odd.small(random) : Odd.number(random);
  }

  private static String text(Random random) throws IOException {
    if (random.nextInt(3) > 0) {
      return Samples.kernel(random);
    }
    RandomPrograms programs = new RandomPrograms(random);
    return switch (random.nextInt(3)) {
      case 0 -> IrPrinter.text(programs.primFunc());
      case 1 -> IrPrinter.text(programs.hostKernel());
      default -> IrPrinter.text(programs.gridKernel());
    };
  }
}
