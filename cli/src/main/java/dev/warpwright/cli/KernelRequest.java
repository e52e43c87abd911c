package dev.warpwright.cli;

import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A file of Kernel text, and what to do with it.
 *
 * @param file the file; not yet opened
 * @param task what to do; every task parses and verifies first
 * @param target what to compile for or to run on
 * @param out where to write what {@link Task#PRINT}, {@link Task#CUDA} and {@link Task#COMPILE}
 *     make; null for standard output, which {@code COMPILE} does not use
 * @param batch the value of the symbolic number of rows, at least 1; empty where none is needed
 * @param seed the seed of the random data; empty for a fresh one
 */
public record KernelRequest(
    Path file,
    Task task,
    TargetName target,
    @Nullable Path out,
    OptionalInt batch,
    OptionalLong seed) {
  /** What to do with the kernel. */
  public enum Task {
    /** Parse and verify, no more. */
    VERIFY,
    /** Print the text again, in its canonical form. */
    PRINT,
    /** Print CUDA C++. */
    CUDA,
    /** Compile for the target. */
    COMPILE,
    /** Run in the simulator under its sanitizers, on random data. */
    SIMULATE,
    /** Run on the target, on random data, and verify against the interpreter. */
    RUN
  }
}
