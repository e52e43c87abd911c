package dev.warpwright.cli.hostile;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

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
}
