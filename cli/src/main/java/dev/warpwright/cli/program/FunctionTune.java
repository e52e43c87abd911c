package dev.warpwright.cli.program;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.base.files.AtomicFile;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.jobs.DeviceQueue;
import dev.warpwright.cli.kernels.KernelExecution;
import dev.warpwright.cli.kernels.KernelFile;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.tuning.FunctionTuneRequest;
import dev.warpwright.cli.tuning.TuningDevice;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.lower.host.HostLowering;
import dev.warpwright.perf.predict.Prediction;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.schedule.trace.ScheduleText;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.HostTarget;
import dev.warpwright.verify.SampledPrediction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Searches for the best schedule of a user's own function: at first what is usually good and what
 * is plainest, then at random, and what differs from the best in one decision. On a GPU each is
 * verified and timed; without one, what the simulator counts of one block tells them apart.
 */
public final class FunctionTune implements Action<FunctionTuneRequest> {
  /** Of 10 proposals so many are made of the best. */
  private static final double MUTATED = 0.6;

  private static final int PARENTS = 4;

  /** Proposals for a trial, most of which do not fit or were tried. */
  private static final int PROPOSALS = 40;

  /** More instances of blocks than this are not run without a GPU. */
  private static final double MOST_WORK = 4e8;

  private static final String TOO_LARGE = "too large to be run in the simulator: not verified";

  /** Where a search begins: the usual tiles, a thread for each element, a thread for each row. */
  private static final List<String> FIRST =
      List.of(
          "sketch=tiles", "sketch=tiles rows=1 vectors=1 vector=1 depth=1 shared=0", "sketch=rows");

  private record Trial(FunctionSpace.Made made, double micros, String bound) {}

  @Override
  public Report perform(FunctionTuneRequest request, Progress progress) {
    KernelFile file = KernelFile.read(request.file());
    List<String> problems = file.problems();
    if (!problems.isEmpty()) {
      throw new UserError(request.file() + ": " + problems.getFirst());
    }
    PrimFunc function = FunctionShape.of(OwnProgram.of(file, null).function(), request.values());
    OwnProgram.started(function);
    Arguments inputs = random(function, request.seed());
    Optional<TuningDevice> here = TuningDevice.look();
    if (here.isPresent()) {
      try (DeviceQueue.Turn _ = here.get().turn("tune", progress);
          Gpu gpu =
              Gpu.find().orElseThrow(() -> new DeviceError("the GPU that was here is gone"))) {
        return new Search(request, function, progress).measured(gpu, inputs);
      }
    }
    return new Search(request, function, progress).predicted(inputs);
  }

  private static Arguments random(PrimFunc function, long seed) {
    try {
      return Arguments.random(function.params(), seed);
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new UserError(function.name() + ": no random data: " + e.getMessage(), e);
    }
  }

  /** How good a kernel is. */
  private interface Judge {
    Trial judge(FunctionSpace.Made made);
  }

  /** One search. */
  private static final class Search {
    private final FunctionTuneRequest request;
    private final PrimFunc function;
    private final Progress progress;
    private final FunctionSpace space;
    private final List<Trial> trials = new ArrayList<>();
    private final Map<String, Integer> refused = new TreeMap<>();
    private String example = "";

    Search(FunctionTuneRequest request, PrimFunc function, Progress progress) {
      this.request = request;
      this.function = function;
      this.progress = progress;
      this.space = new FunctionSpace(function);
    }

    Report measured(Gpu gpu, Arguments inputs) {
      Arguments right = inputs.copy();
      Kernel plain = HostLowering.lower(function, HostTarget.current(), Set.of()).kernel();
      KernelExecution.runOnHost(plain, right, Map.of());
      FunctionBench bench = new FunctionBench(gpu, inputs, right);
      run(made -> new Trial(made, bench.micros(made.kernel()), ""));
      return report(gpu.name(), (GpuTarget) gpu.target(), true, "each result verified");
    }

    Report predicted(Arguments inputs) {
      GpuTarget target = GpuTarget.SM_90A;
      DeviceModel device =
          Prediction.device(target)
              .orElseThrow(() -> new IllegalStateException("no device of " + target.name()));
      Arguments scratch = inputs.copy();
      run(
          made -> {
            SampledPrediction expected =
                SampledPrediction.of(
                    made.kernel(),
                    FunctionComparison.sharing(made.kernel().params(), scratch),
                    device);
            return new Trial(made, expected.micros(), expected.bound());
          });
      String verified = TOO_LARGE;
      if (FunctionShape.work(function) <= MOST_WORK) {
        Kernel best = best().made().kernel();
        progress.say("running the best one in the simulator");
        FunctionComparison comparison =
            FunctionComparison.of(function, best, Map.of(), request.seed());
        if (!comparison.equal()) {
          throw new IllegalStateException(comparison.text());
        }
        verified = comparison.text();
      }
      return report(device.name(), target, false, verified);
    }

    private void run(Judge judge) {
      long end = System.nanoTime() + (long) (request.seconds() * 1e9);
      SplittableRandom random = new SplittableRandom(request.seed());
      Set<Point> seen = new HashSet<>();
      for (int i = 0;
          trials.size() < request.trials()
              && i < PROPOSALS * (long) request.trials()
              && (trials.isEmpty() || System.nanoTime() < end);
          i++) {
        Space.Drawn drawn = propose(i, random);
        if (!seen.add(drawn.point())) {
          continue;
        }
        if (drawn.candidate() == null) {
          refuse(
              drawn.rejection() == null ? "" : drawn.rejection().reason(),
              drawn.rejection() == null ? "" : String.valueOf(drawn.rejection().getMessage()));
          continue;
        }
        try {
          Trial trial = judge.judge(space.made(drawn.candidate()));
          trials.add(trial);
          boolean better = best() == trial;
          progress.status(
              String.format(
                  Locale.ROOT,
                  "%d of %d: %.2f us, best %.2f us",
                  trials.size(),
                  request.trials(),
                  trial.micros(),
                  best().micros()),
              better);
        } catch (UserError | DeviceError | SimulationError e) {
          refuse("run", String.valueOf(e.getMessage()));
        }
      }
      if (trials.isEmpty()) {
        throw new UserError(
            function.name()
                + ": no schedule of it was found ("
                + example
                + "); schedule it by hand, with 'kernel --schedule'");
      }
    }

    private void refuse(String reason, String message) {
      refused.merge(reason, 1, Integer::sum);
      example = example.isEmpty() ? message : example;
    }

    private Space.Drawn propose(int number, SplittableRandom random) {
      if (number < FIRST.size()) {
        return space.space().replay(Point.parse(FIRST.get(number)));
      }
      if (trials.isEmpty() || random.nextDouble() > MUTATED) {
        return space.space().sample(random);
      }
      List<Trial> best =
          trials.stream().sorted(Comparator.comparingDouble(Trial::micros)).limit(PARENTS).toList();
      return space.space().mutate(best.get(random.nextInt(best.size())).made().point(), random);
    }

    private Trial best() {
      return trials.stream().min(Comparator.comparingDouble(Trial::micros)).orElseThrow();
    }

    private Report report(String device, GpuTarget target, boolean measured, String verified) {
      Trial best = best();
      Trial plain = plain();
      List<String> lines = new ArrayList<>();
      lines.add(
          String.format(
              Locale.ROOT,
              "%s: %d schedules %s for %s, %d refused",
              function.name(),
              trials.size(),
              measured ? "measured" : "weighed by prediction (no GPU here, nothing is measured)",
              device,
              refused.values().stream().mapToInt(Integer::intValue).sum()));
      lines.add(
          String.format(
              Locale.ROOT,
              "best: %s, %.2f us%s%s",
              best.made().point().text(),
              best.micros(),
              measured ? "" : " expected, most of it " + best.bound(),
              plain == null
                  ? ""
                  : String.format(
                      Locale.ROOT, "; a thread for each element %.2f us", plain.micros())));
      lines.add(verified);
      write(target).ifPresent(names -> lines.add("wrote " + names + " into " + request.folder()));
      if (request.folder() == null) {
        lines.add("-o DIR writes its schedule, for 'kernel' and 'export' to take");
      }
      Json.Members reasons = Json.object();
      for (Map.Entry<String, Integer> reason : refused.entrySet()) {
        reasons = reasons.with(reason.getKey(), reason.getValue());
      }
      return new Report(
          true,
          String.join(System.lineSeparator(), lines.stream().map(OneLine::of).toList()),
          Json.object()
              .with("file", request.file().toString())
              .with("function", function.name())
              .with("device", device)
              .with("measured", measured)
              .with("trials", trials.size())
              .with("refused", reasons)
              .with("schedule", best.made().point().text())
              .with("timeUs", measured ? best.micros() : Double.NaN)
              .with("expectedUs", measured ? Double.NaN : best.micros())
              .with("verified", !verified.equals(TOO_LARGE))
              .with("comparison", verified)
              .with("seed", request.seed())
              .with("folder", request.folder() == null ? null : request.folder().toString()));
    }

    private @Nullable Trial plain() {
      Point point = Point.parse(FIRST.get(1));
      return trials.stream()
          .filter(trial -> trial.made().point().agrees(point))
          .findFirst()
          .orElse(null);
    }

    private Optional<String> write(GpuTarget target) {
      if (request.folder() == null) {
        return Optional.empty();
      }
      FunctionSpace.Made made = best().made();
      Map<String, String> texts = new LinkedHashMap<>();
      texts.put("function.ir", IrPrinter.text(function));
      texts.put("schedule.txt", ScheduleText.of(made.trace()));
      texts.put("trace.json", made.trace().toJson());
      texts.put("kernel.kernel", IrPrinter.text(made.kernel()));
      texts.put("kernel.cu", CudaPrinter.print(made.kernel(), target));
      Map<String, byte[]> files = new LinkedHashMap<>();
      texts.forEach((name, text) -> files.put(name, text.getBytes(StandardCharsets.UTF_8)));
      AtomicFile.writeAll(request.folder(), files);
      return Optional.of(String.join(", ", files.keySet()));
    }
  }
}
