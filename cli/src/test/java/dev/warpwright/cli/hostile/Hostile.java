package dev.warpwright.cli.hostile;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** A kind of hostile input: makes up command lines with the files that they name. */
interface Hostile {
  /**
   * Makes one up.
   *
   * @param random all that is chosen comes from it, so that a seed makes the same input again
   * @param folder an empty folder for files
   * @return the arguments of a command
   */
  List<String> prepare(Random random, Path folder) throws IOException;

  /** Performs one; the result is what was wrong with it, null if nothing. */
  default @Nullable String broken(Contract contract, List<String> args, Path folder)
      throws IOException {
    return contract.broken(args);
  }
}
