package dev.warpwright.cli.kernels;

import dev.warpwright.cli.attention.AttentionTask;
import dev.warpwright.cli.devices.TargetName;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.parallel.cost.ParallelRequest;
import dev.warpwright.verify.CheckOptions;
import dev.warpwright.workload.Precision;
import java.nio.file.Path;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * What to check, and how.
 *
 * @param file a file of Kernel text or a model; not yet opened
 * @param target the GPU for which a model is compiled
 * @param precision in which a model is compiled; null for the file's
 * @param arch the architecture of weights without a graph; null for a file that has its own
 * @param attributes of the kernels that get another value, by name
 * @param mutants how many mistakes of each kind to plant, to see which are reported; empty for none
 * @param table the file in which to write what became of the mutants; null for none
 * @param threads that test mutants
 * @param seconds after which no more mutants are begun; empty for no limit
 * @param counters whether to predict what the kernels ask of an H200's memories, instead
 * @param emit the folder to write the mutants to, a CUDA program each; null for nowhere
 * @param gpu whether to run everything on this machine's GPU too, and to compare the results
 * @param network of random weights, which stands in the file's place; null for a file
 * @param attention which stands in the file's place; null for a file
 * @param gpus that share a model; null for one
 * @param own data to run one's own kernel on, and what to show
 */
public record CheckRequest(
    Path file,
    TargetName target,
    @Nullable Precision precision,
    @Nullable Architecture arch,
    Map<String, String> attributes,
    CheckOptions options,
    OptionalInt mutants,
    @Nullable Path emit,
    @Nullable Path table,
    int threads,
    OptionalDouble seconds,
    boolean counters,
    boolean gpu,
    @Nullable NetworkTask network,
    @Nullable AttentionTask attention,
    @Nullable ParallelRequest gpus,
    OwnData own) {
  public CheckRequest {
    attributes = Map.copyOf(attributes);
  }
}
