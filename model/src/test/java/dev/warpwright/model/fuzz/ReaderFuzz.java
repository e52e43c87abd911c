package dev.warpwright.model.fuzz;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The entry for the fuzzer, Jazzer. Its only argument is the name of a {@link Target}, or {@code
 * all}: then each input begins with a line that names the target for the rest.
 */
public final class ReaderFuzz {
  private static final String ALL = "all";

  private static @Nullable Target only;

  private ReaderFuzz() {}

  /** Called once. */
  public static void fuzzerInitialize(String[] arguments) {
    only = arguments[0].equals(ALL) ? null : target(arguments[0]);
  }

  /** Called for every input; whatever it throws is a finding. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    if (only != null) {
      only.check(bytes);
      return;
    }
    for (Target target : Target.values()) {
      byte[] name = (target.text() + "\n").getBytes(StandardCharsets.US_ASCII);
      if (bytes.length >= name.length
          && Arrays.equals(bytes, 0, name.length, name, 0, name.length)) {
        target.check(Arrays.copyOfRange(bytes, name.length, bytes.length));
      }
    }
  }

  private static Target target(String name) {
    return Target.valueOf(name.toUpperCase(Locale.ROOT));
  }
}
