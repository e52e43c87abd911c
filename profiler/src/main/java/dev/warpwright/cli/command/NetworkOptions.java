package dev.warpwright.cli.command;

import dev.warpwright.base.UserError;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.workload.Precision;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How a model's file is read, the same for every command that takes one. */
public final class NetworkOptions {
  @Option(
      names = "--precision",
      paramLabel = "P",
      converter = PrecisionConverter.class,
      description = "f32, tf32, f16, bf16 or f16_accumulators for a model; default: the file's.")
  private @Nullable Precision precision;

  @Option(
      names = "--arch",
      paramLabel = "A",
      description =
          "The architecture of weights without a graph: mlp:64,128,10:relu, or a .json file.")
  private @Nullable String arch;

  /** Kernels count rows in 32 bits, up to whole tiles. */
  private static final int MOST_ROWS = 2_000_000_000;

  /**
   * Checks a number of rows.
   *
   * @throws UserError if there can be no kernel for so many
   */
  public static void checkRows(int rows) {
    if (rows < 1 || rows > MOST_ROWS) {
      throw new UserError(
          "--batch " + rows + ": the number of rows must be at least 1, and at most " + MOST_ROWS);
    }
  }

  /** What products are computed in; null for the file's. */
  public @Nullable Precision precision() {
    return precision;
  }

  /**
   * The architecture of weights without a graph; null for a file that has its own.
   *
   * @throws dev.warpwright.base.UserError if it is none
   */
  public @Nullable Architecture architecture() {
    return arch == null ? null : Architecture.parse(arch);
  }
}
