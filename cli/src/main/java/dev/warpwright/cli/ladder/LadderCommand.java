package dev.warpwright.cli.ladder;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.devices.TargetName;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.ir.type.DType;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    name = "ladder",
    description = {
      "Climb the ladder of optimisations of a matrix product: each rung a schedule, run on"
          + " the GPU here, verified, beside cuBLAS; without a GPU, as a model predicts it.",
      "",
      "M, N, K: the shape, 4096 unless given, 128 in the simulator; letters may share a value, as"
          + " MNK=4096 or MN=1024 K=2048. dtype: f32 or f64; rungs on tensor cores are in bf16, and"
          + " beside f32 only."
    })
public final class LadderCommand extends Command {
  private static final long MOST = 1 << 15;
  private static final long USUAL = 4096;

  /** In the simulator: done in seconds. */
  private static final long USUAL_SIMULATED = 128;

  private static final long MOST_SIMULATED = 2048;

  private final Action<LadderRequest> action;

  @Parameters(arity = "0..*", paramLabel = "KEY=VALUE", description = "See above.")
  List<String> arguments = List.of();

  @Option(
      names = "--rung",
      paramLabel = "NAME",
      description = "Only this rung; may be given several times.")
  List<String> rungs = List.of();

  @Option(
      names = "--chart",
      paramLabel = "FILE",
      description =
          "Where the chart goes, as SVG; ladder.svg unless given, nowhere with --target sim.")
  @Nullable Path chart;

  @Option(names = "--no-chart", description = "Write no chart.")
  boolean noChart;

  @Option(
      names = "--target",
      paramLabel = "T",
      converter = TargetName.Converter.class,
      description =
          "auto, the GPU here or else a prediction; or sim: verified and counted in the simulator.")
  TargetName target = TargetName.AUTO;

  @Option(names = "--predict", description = "Predict times even if there is a GPU.")
  boolean predict;

  @Option(
      names = "--device",
      paramLabel = "NAME",
      description = "Predict for this device, for example A100.")
  @Nullable String device;

  @Option(
      names = "--profile",
      description =
          "Let Nsight Compute count, too, and leave its report with lines of the source for its"
              + " window; it has to be installed and allowed to.")
  boolean profile;

  @Option(
      names = "--report",
      paramLabel = "FILE.ncu-rep",
      description = "With --profile: the report; ladder.ncu-rep unless given.")
  Path report = Path.of("ladder.ncu-rep");

  @Option(
      names = "--search",
      paramLabel = "FILE.svg",
      description = "Draw what the autotuned rung's search chose from, measured or predicted.")
  @Nullable Path search;

  @Option(names = "--launch", hidden = true, description = "Launch each rung once.")
  boolean launch;

  @Option(
      names = "--sources",
      hidden = true,
      description = "With --launch: where the sources go that machine code names.")
  @Nullable Path sources;

  @Option(names = "--rounds", paramLabel = "N", description = "Rounds of timing (7).")
  int rounds = 7;

  @Option(names = "--seed", paramLabel = "N", description = "Seed of the random data (1).")
  long seed = 1;

  public LadderCommand(Action<LadderRequest> action) {
    this.action = action;
  }

  @Override
  public Report perform(Progress progress) {
    KeyValues values = new KeyValues(arguments);
    if (target != TargetName.AUTO && target != TargetName.SIM) {
      throw new UserError(
          "--target "
              + target.text()
              + ": the ladder takes auto and sim; --device NAME predicts for another GPU");
    }
    boolean simulate = target == TargetName.SIM;
    if (simulate && (predict || profile || launch)) {
      throw new UserError("--target sim: leave --predict and --profile out");
    }
    long most = simulate ? MOST_SIMULATED : MOST;
    long usual = simulate ? USUAL_SIMULATED : USUAL;
    long m = values.number("M", 1, most, usual);
    long n = values.number("N", 1, most, usual);
    long k = values.number("K", 1, most, usual);
    DType dtype = dtype(values.text("dtype", "f32"));
    values.finish("M, N, K, dtype");
    if (rounds < 1 || rounds > 1000) {
      throw new UserError("--rounds " + rounds + ": it is a number from 1 to 1000");
    }
    if (search != null && (simulate || launch || profile)) {
      throw new UserError("--search " + search + ": of a run that measures or predicts");
    }
    if (profile && (predict || device != null)) {
      throw new UserError("--profile watches a GPU; leave --predict and --device out");
    }
    LadderRequest.Task task =
        simulate
            ? LadderRequest.Task.SIMULATE
            : launch
                ? LadderRequest.Task.LAUNCH
                : profile
                    ? LadderRequest.Task.PROFILE
                    : predict || device != null
                        ? LadderRequest.Task.PREDICT
                        : LadderRequest.Task.MEASURE;
    return action.perform(
        new LadderRequest(
            m,
            n,
            k,
            dtype,
            rungs,
            device,
            noChart ? null : simulate || chart != null ? chart : Path.of("ladder.svg"),
            seed,
            rounds,
            task,
            new LadderRequest.Files(search, profile ? report : sources)),
        progress);
  }

  private static DType dtype(String text) {
    return switch (text) {
      case "f32" -> DType.F32;
      case "f64" -> DType.F64;
      default -> throw new UserError("dtype=" + text + ": the ladder is in f32 or f64");
    };
  }
}
