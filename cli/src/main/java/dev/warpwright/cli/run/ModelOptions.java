package dev.warpwright.cli.run;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.command.NetworkOptions;
import dev.warpwright.cli.devices.TargetName;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.parallel.cost.ParallelRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The options that every command about a model has. */
final class ModelOptions {
  @Parameters(
      index = "0",
      paramLabel = "MODEL",
      description =
          "The model's file, for example model.onnx; or mlp, ffn, layer (a decoder"
              + " layer in a step of decoding) or attention, with random weights.")
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
      description =
          "The number of rows, of --input and --expect the first; default: for 'run' the input's,"
              + " the model's or 64, for 'plan' 4096.")
  @Nullable Integer batch;

  @Option(
      names = "--emit",
      paramLabel = "DIR",
      description =
          "Write the program there in text, as it is after each step: function, tile program,"
              + " kernel, CUDA C++.")
  @Nullable Path emit;

  @Option(
      names = "--gpus",
      paramLabel = ParallelRequest.SYNTAX,
      description = {
        "Share the network among N GPUs of a host: tensor parallel (layers by columns, then by rows"
            + " of their weights, results added over the GPUs) or data parallel (rows of inputs),"
            + " default: what is expected to be faster.",
        "P: parts of the rows, of which one is added while the next is computed. L: what joins the"
            + " GPUs, for the expected times: nvlink4, nvlink3, pcie5, pcie4 or network400."
      })
  String gpus = "1";

  /**
   * What is asked for, with random weights where no file is named: {@code mlp widths=…}, which the
   * widths alone mean, too, or {@code ffn M=…}.
   *
   * @param command for messages
   * @param arguments behind the model
   * @throws UserError if an option is out of its range, or a file has arguments
   */
  ModelRequest request(String command, List<String> arguments) {
    ModelRequest request = request();
    String what = request.file().toString();
    List<String> values = arguments;
    if (what.startsWith("widths=")) {
      values = new ArrayList<>(arguments);
      values.addFirst(what);
      what = "mlp";
    }
    if (!NetworkTask.isRandom(what)) {
      if (what.equals("gemm") && !Files.exists(request.file())) {
        throw new UserError(
            "gemm: "
                + command
                + " is for networks; 'explain gemm' and 'analyze gemm' tell of a GEMM");
      }
      if (!arguments.isEmpty()) {
        NetworkTask.requireFile(what, List.of());
        throw new UserError(
            "'"
                + arguments.getFirst()
                + "': for mlp, ffn, layer and attention; '"
                + what
                + "' is a file");
      }
      return request;
    }
    KeyValues keys = new KeyValues(values);
    NetworkTask random = NetworkTask.of(what, keys, null).apart(command);
    keys.finish(NetworkTask.keys(what));
    return request.with(random);
  }

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
        emit,
        null,
        ParallelRequest.parse(gpus));
  }
}
