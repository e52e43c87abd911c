package dev.warpwright.cli.run;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.devices.TargetName;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.parallel.cost.ParallelRequest;
import dev.warpwright.workload.Precision;
import java.nio.file.Path;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * A model, and what to compile it for.
 *
 * @param file the model's file; not yet opened
 * @param target where it is to run
 * @param arch the architecture of weights without a graph; null for a file that has its own
 * @param precision the precision asked for; null for the file's
 * @param batch the number of rows, at least 1; empty for the input's
 * @param emit the folder to write the program to in text, after each step; null for nowhere
 * @param network of random weights, which stands in the file's place; null for a file
 * @param gpus that share it; null for one device
 */
public record ModelRequest(
    Path file,
    TargetName target,
    @Nullable Architecture arch,
    @Nullable Precision precision,
    OptionalInt batch,
    @Nullable Path emit,
    @Nullable NetworkTask network,
    @Nullable ParallelRequest gpus) {
  /** A model of a file. */
  public ModelRequest(
      Path file,
      TargetName target,
      @Nullable Architecture arch,
      @Nullable Precision precision,
      OptionalInt batch,
      @Nullable Path emit) {
    this(file, target, arch, precision, batch, emit, null, null);
  }

  /** What messages call it: the file, or what makes the network. */
  String title() {
    return network == null ? file.toString() : network.text();
  }

  /**
   * For what one GPU computes.
   *
   * @throws UserError if several are asked for
   */
  void refuseSharing() {
    if (gpus != null) {
      throw new UserError("--gpus " + gpus.devices() + ": for networks; leave it out");
    }
  }

  /** The same for a network of random weights in the file's place. */
  ModelRequest with(NetworkTask random) {
    return new ModelRequest(
        file,
        target,
        arch,
        random.precision(),
        batch.isPresent() ? batch : OptionalInt.of(random.rows()),
        emit,
        random,
        gpus);
  }
}
