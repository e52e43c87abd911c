package dev.warpwright.cli.run;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.NetworkOptions;
import dev.warpwright.cli.devices.TargetName;
import java.nio.file.Path;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The options that every command about a model has. */
final class ModelOptions {
  @Parameters(paramLabel = "MODEL", description = "The model's file, for example model.onnx.")
  Path file = Path.of("");

  @Option(
      names = "--target",
      paramLabel = "T",
      converter = TargetName.Converter.class,
      description = "auto, cpu, sim, sm_75, sm_80, sm_86, sm_89 or sm_90a; default: auto.")
  TargetName target = TargetName.AUTO;

  @Mixin NetworkOptions network = new NetworkOptions();

  @Option(
      names = "--batch",
      paramLabel = "N",
      description = "The number of rows; default: the input's.")
  @Nullable Integer batch;

  @Option(
      names = "--emit",
      paramLabel = "DIR",
      description =
          "Write the program there in text, as it is after each step: function, tile program,"
              + " kernel, CUDA C++.")
  @Nullable Path emit;

  /**
   * The checked options.
   *
   * @throws UserError if one is out of its range
   */
  ModelRequest request() {
    if (batch != null) {
      NetworkOptions.checkRows(batch);
    }
    return new ModelRequest(
        file,
        target,
        network.architecture(),
        network.precision(),
        batch == null ? OptionalInt.empty() : OptionalInt.of(batch),
        emit);
  }
}
