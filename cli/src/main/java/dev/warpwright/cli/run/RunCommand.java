package dev.warpwright.cli.run;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.attention.AttentionRun;
import dev.warpwright.cli.attention.AttentionTask;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.devices.TargetName;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.target.GpuTarget;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    name = "run",
    description = "Compile a model into fused kernels, run it, and verify the output.")
public final class RunCommand extends Command {
  private final Action<RunRequest> action;

  @Mixin ModelOptions model = new ModelOptions();

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "KEY=VALUE",
      description =
          "Of a network with random weights: what makes it, as for 'perf', 'run mlp"
              + " widths=64,128,10 act=relu rows=1048576' (mlp may be left out). Of attention: its"
              + " shape, 'run attention B=2 HQ=8 HKV=2 D=64 S=127 dtype=bf16', on random ragged"
              + " entries.")
  List<String> arguments = List.of();

  @Option(names = "--input", paramLabel = "X.npy", description = "The input; default: random data.")
  @Nullable Path input;

  @Option(
      names = "--expect",
      paramLabel = "Y.npy",
      description =
          "The right output; default: what the reference interpreter computes. Of a model of"
              + " several outputs NAME=FILE, once for each, or a folder with NAME.npy for each.")
  List<String> expect = new ArrayList<>();

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "The seed of random input; default: another one each time.")
  @Nullable Long seed;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description =
          "Write the output there: a .npy file, or with --image a .png file. Of a model of several"
              + " outputs NAME=FILE, once for each that is wanted, or a folder.")
  List<String> out = new ArrayList<>();

  @Option(
      names = "--image",
      paramLabel = "WxH",
      converter = ImageSize.Converter.class,
      description =
          "The rows are the pixels of a picture of this size, and their 1 or 3 values from 0 to 1"
              + " its grey or colour; --out writes it as PNG. A model of 2 inputs gets the pixels'"
              + " places without --input: x and y from -1 to 1, x fastest.")
  @Nullable ImageSize image;

  @Option(
      names = "--beside",
      paramLabel = "FILE",
      description =
          "Of a picture: tell the PSNR beside this one, a .png file of 8 bits or a .npy file.")
  @Nullable Path beside;

  @Option(
      names = "--time",
      paramLabel = "SECONDS",
      description = "Measure for that long; default: 0.1. On the CPU give 1 or more.")
  double seconds = 0.1;

  @Option(
      names = "--rtol",
      paramLabel = "R",
      description =
          "The greatest |out-ref|/|ref|; default: 3e-6 for f32, 2e-3 for tf32, 4e-3 for f16,"
              + " 2e-2 for bf16.")
  @Nullable Double relative;

  @Option(
      names = "--atol",
      paramLabel = "A",
      description = "The greatest absolute error of an element; default: not checked.")
  @Nullable Double absolute;

  public RunCommand(Action<RunRequest> action) {
    this.action = action;
  }

  @Override
  public Report perform(Progress progress) {
    if (image != null && out.isEmpty() && beside == null) {
      throw new UserError("--image " + image + ": give --out FILE.png, where the picture goes");
    }
    if (beside != null && image == null) {
      throw new UserError("--beside " + beside + ": give the picture's size, --image WIDTHxHEIGHT");
    }
    for (String file : out) {
      if (image == null && file.endsWith(".png")) {
        throw new UserError(
            "--out " + file + ": for a picture give its size, --image WIDTHxHEIGHT");
      }
    }
    if (!(seconds >= 0 && seconds <= 3600)) {
      throw new UserError("--time " + seconds + ": give seconds, from 0 to 3600");
    }
    ModelRequest request = model.request();
    long data = seed == null ? ThreadLocalRandom.current().nextLong() : seed;
    if (AttentionTask.is(request.file().toString())) {
      request.refuseSharing();
      return attention(request.target(), data);
    }
    return action.perform(
        new RunRequest(
            model.request("run", arguments),
            input,
            data,
            new OutputFiles("--expect", expect),
            new Output(new OutputFiles("--out", out), image, beside),
            tolerance("--rtol", relative),
            tolerance("--atol", absolute),
            seconds),
        progress);
  }

  private Report attention(TargetName target, long data) {
    AttentionTask task = AttentionTask.of(arguments);
    return switch (target) {
      case AUTO, CPU -> AttentionRun.onCpu(task, data);
      case SIM -> AttentionRun.simulated(task, GpuTarget.SM_90A, data);
      case SM_75, SM_80, SM_86, SM_89, SM_90A ->
          throw new UserError(
              "--target "
                  + target.text()
                  + ": attention runs on cpu and sim; 'check attention ... --gpu' runs it on a GPU");
    };
  }

  private static OptionalDouble tolerance(String option, @Nullable Double value) {
    if (value == null) {
      return OptionalDouble.empty();
    }
    if (!(value >= 0) || value.isInfinite()) {
      throw new UserError(option + " " + value + ": a tolerance must be a number from 0 on");
    }
    return OptionalDouble.of(value);
  }
}
