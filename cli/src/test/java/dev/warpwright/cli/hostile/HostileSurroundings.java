package dev.warpwright.cli.hostile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Good commands in surroundings that nobody has: homes and temporary folders that are none,
 * locales, Java's own options, a standard output that is full or closed. Each runs in a process of
 * its own; the arguments begin with what is set, as those of {@code env} do, up to {@code --}.
 */
final class HostileSurroundings implements Hostile {
  private static final List<String> FOLDERS = List.of("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME");
  private static final List<String> LOCALES =
      List.of("C", "POSIX", "fa_IR.UTF-8", "tr_TR.UTF-8", "ar_EG", "xx", "", "de_DE@euro");
  private static final List<String> JAVA =
      List.of(
          "-Duser.language=fa -Duser.country=IR",
          "-Duser.language=ar -Duser.country=EG -Duser.extensions=nu-arab",
          "-Duser.language=tr",
          "-Dfile.encoding=COMPAT",
          "-Dstdout.encoding=US-ASCII -Dstderr.encoding=US-ASCII",
          "-Duser.home=?",
          "-Duser.home=/nonexistent",
          "-Djava.io.tmpdir=/nonexistent",
          "-Djava.io.tmpdir=/dev/null",
          "-Duser.timezone=Nowhere/None",
          "-Xmx48m",
          "-Xss180k",
          ChildContract.INTERPRETED,
          "-XX:ActiveProcessorCount=1",
          "");

  @Override
  public List<String> prepare(Random random, Path folder) throws IOException {
    List<String> args = new ArrayList<>();
    Path file = Files.writeString(folder.resolve("file"), "no folder");
    List<String> places =
        List.of(
            "",
            "/",
            "/nonexistent",
            "/dev/null",
            "/proc",
            file.toString(),
            file + "/below",
            "relative",
            "?",
            folder + "/new\nline",
            folder + "/jos\u00e9",
            folder + "/" + "x".repeat(300));
    for (String name : FOLDERS) {
      if (random.nextInt(3) == 0) {
        args.add(name + "=" + Odd.of(random, places));
      }
    }
    if (random.nextInt(3) == 0) {
      args.add("TMPDIR=" + Odd.of(random, places));
    }
    if (random.nextInt(2) == 0) {
      args.add("LC_ALL=" + Odd.of(random, LOCALES));
    }
    if (random.nextInt(2) == 0) {
      args.add("JAVA_TOOL_OPTIONS=" + Odd.of(random, JAVA));
    }
    if (random.nextInt(4) == 0) {
      args.add(ChildContract.OUTPUT + Odd.of(random, List.of("/dev/full", ChildContract.CLOSED)));
    }
    args.add(ChildContract.END);
    args.addAll(command(random, folder));
    return args;
  }

  private static List<String> command(Random random, Path folder) throws IOException {
    String model = Samples.model(random, "onnx").toString();
    return switch (random.nextInt(8)) {
      case 0 -> List.of("version");
      case 1 -> List.of("plan", model, "--target=sm_80");
      case 2 -> List.of("run", model, "--target=cpu", "--batch=2", "--time=0");
      case 3 -> List.of("export", model, "--target=sm_80", "-o", folder + "/out");
      case 4 -> List.of("db", "list");
      case 5 -> List.of("jobs");
      case 6 -> List.of("order", "show", "grid=3x3", "capacity=4", "order=row");
      default -> List.of("plan", folder + "/none.onnx");
    };
  }

  @Override
  public @Nullable String broken(Contract contract, List<String> args, Path folder)
      throws IOException {
    return new ChildContract(folder).broken(args);
  }
}
