package dev.warpwright.cli.run;

import java.nio.file.Path;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * One run of a model.
 *
 * @param model the model, and where it is to run
 * @param input the .npy file with the input; null for random data
 * @param seed of the random data
 * @param expect the .npy files with the right outputs; the others are verified against the
 *     interpreter
 * @param output where the outputs go
 * @param relative the greatest relative error, in the Frobenius norm; empty for the precision's
 *     default
 * @param absolute the greatest absolute error of an element; empty if it is not checked
 * @param seconds how long to measure
 */
public record RunRequest(
    ModelRequest model,
    @Nullable Path input,
    long seed,
    OutputFiles expect,
    Output output,
    OptionalDouble relative,
    OptionalDouble absolute,
    double seconds) {}
