package dev.warpwright.cli.kernels;

import dev.warpwright.cli.devices.TargetName;
import java.nio.file.Path;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * A file of Kernel text, and what to do with it.
 *
 * @param file the file; not yet opened
 * @param task what to do; every task parses and verifies first
 * @param target what to compile for or to run on
 * @param out where to write what {@link Task#PRINT}, {@link Task#CUDA} and {@link Task#COMPILE}
 *     make; null for standard output, which {@code COMPILE} does not use
 * @param batch the value of the first scalar, usually the number of rows, at least 1; empty for 64
 * @param values of scalars by name; they go before {@code batch}
 * @param attributes of the kernels that get another value, by name
 * @param seed the seed of the random data
 * @param timing how {@link Task#BENCH} measures
 * @param schedule the file of steps by which a function is scheduled first; null for none
 */
public record KernelRequest(
    Path file,
    Task task,
    TargetName target,
    @Nullable Path out,
    OptionalInt batch,
    Map<String, Long> values,
    Map<String, String> attributes,
    long seed,
    Timing timing,
    @Nullable Path schedule) {
  public KernelRequest {
    values = Map.copyOf(values);
    attributes = Map.copyOf(attributes);
  }

  /** The same of a program whose scalars are constants by now. */
  public KernelRequest withoutValues() {
    return new KernelRequest(
        file, task, target, out, OptionalInt.empty(), Map.of(), attributes, seed, timing, schedule);
  }

  /**
   * How to measure.
   *
   * @param rounds of timing, 0 to verify only
   * @param repeats launches to compare in each of three ways, 0 for none
   */
  public record Timing(int rounds, int repeats) {}

  /** What to do with the kernel. */
  public enum Task {
    /** Parse and verify, no more. */
    VERIFY,
    /** Print the text again, in its canonical form. */
    PRINT,
    /** Print CUDA C++. */
    CUDA,
    /** Print the kernel that a function becomes. */
    LOWER,
    /** Compile for the target. */
    COMPILE,
    /** Run in the simulator under its sanitizers, on random data. */
    SIMULATE,
    /** Run on the target, on random data, and verify against the interpreter. */
    RUN,
    /** Run on a GPU, verify against a reference in f64, and measure beside cuBLAS. */
    BENCH
  }
}
