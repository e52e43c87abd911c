package dev.warpwright.model.fuzz;

import java.util.Locale;

/** The entry for the fuzzer, Jazzer; its only argument is the name of a {@link Target}. */
public final class ReaderFuzz {
  private static Target target = Target.ONNX;

  private ReaderFuzz() {}

  /** Called once. */
  public static void fuzzerInitialize(String[] arguments) {
    target = Target.valueOf(arguments[0].toUpperCase(Locale.ROOT));
  }

  /** Called for every input; whatever it throws is a finding. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    target.check(bytes);
  }
}
