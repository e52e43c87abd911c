package dev.warpwright.cli.attention;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.cli.devices.Devices;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.families.attention.AttentionConfig;
import dev.warpwright.families.attention.AttentionConfig.Combine;
import dev.warpwright.families.attention.AttentionModel;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.families.tuned.GemmChooser;
import dev.warpwright.families.tuned.TunedAttention;
import dev.warpwright.measure.attention.AttentionBench;
import dev.warpwright.measure.attention.AttentionWay;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Attention;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.kernel.BoundKernel;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Times attention on this machine's GPU, verified before and after: one configuration ({@code
 * perf}), or those that are expected to be the fastest ({@code tune}). Each result is said and in
 * the database before the next configuration runs. Torch's times of the same attention come from
 * {@code bench/attention.sh}.
 */
public final class AttentionPerf {
  /** Of an earlier search's fastest, so many run again beside new ones. */
  private static final int AGAIN = 3;

  private final AttentionSearch search;
  private final TuningDatabase database;
  private final Environment environment;
  private final Progress progress;

  private AttentionPerf(
      AttentionSearch search, TuningDatabase database, Environment environment, Progress progress) {
    this.search = search;
    this.database = database;
    this.environment = environment;
    this.progress = progress;
  }

  /** What is timed of a configuration. */
  @FunctionalInterface
  public interface Ways {
    /** Attention alone. */
    Ways ALONE = config -> List.of(AttentionWay.of(config));

    /** The ways. */
    List<AttentionWay> of(AttentionConfig config);

    /** Stages of rings that leave an SM's memory to the launch before. */
    List<String> FEW_STAGES = List.of("5", "4", "3");

    /**
     * With an output projection: one launch, and a launch for the GEMM that is fastest alone, also
     * with a ring that may find a place on an SM beside the attention, so that it fills meanwhile.
     *
     * @param sms of the device
     * @throws dev.warpwright.base.UserError if O does not lie as the GEMM reads it
     */
    static Ways projecting(AttentionSearch search, GpuTarget target, int sms, GemmChooser chooser) {
      Attention attention = search.attention();
      int features = search.features();
      return config -> {
        List<AttentionWay> ways = new ArrayList<>();
        ways.add(new AttentionWay(config, features, null));
        if (attention.tokens() == 1) {
          GemmWorkload gemm =
              new GemmWorkload(
                  attention.batch(),
                  features,
                  (long) attention.queryHeads() * attention.headSize(),
                  attention.type(),
                  attention.type(),
                  Layout.NT,
                  new Epilogue(1, 0, false, Activation.NONE, false, false, false, true));
          for (Candidate each : candidates(gemm, target, sms, chooser.choose(gemm).candidate())) {
            BoundKernel kernel = BoundKernel.of(each.kernel().get(), each.values());
            AttentionWay.Behind behind = new AttentionWay.Behind(kernel, room(each.point()));
            for (Combine by : Combine.values()) {
              AttentionConfig combined = config.combined(by);
              if (config.splits() == 1 ? by == Combine.LAUNCH : isOne(attention, combined)) {
                ways.add(new AttentionWay(combined, features, behind));
              }
            }
          }
        }
        return ways;
      };
    }

    /** A GEMM's kernel, and the same with fewer stages, two blocks to an SM. */
    private static Collection<Candidate> candidates(
        GemmWorkload gemm, GpuTarget target, int sms, Candidate chosen) {
      Map<Point, Candidate> candidates = new LinkedHashMap<>();
      candidates.put(chosen.point(), chosen);
      if (chosen.point().option("stages") != null && chosen.point().option("minBlocks") != null) {
        Space space = GemmSpace.of(gemm, target, sms);
        for (String stages : FEW_STAGES) {
          Point asked = chosen.point().with("minBlocks", "2").with("stages", stages);
          Space.Drawn drawn = space.replay(asked);
          if (drawn.candidate() != null && drawn.point().agrees(asked)) {
            candidates.putIfAbsent(drawn.point(), drawn.candidate());
          }
        }
      }
      return candidates.values();
    }

    /** What a kernel leaves of an SM's memory, in words of its point. */
    private static String room(Point point) {
      String stages = point.option("stages");
      return stages == null ? "" : stages + " stages";
    }

    private static boolean isOne(Attention attention, AttentionConfig config) {
      try {
        config.check(attention);
        return true;
      } catch (UserError e) {
        return false;
      }
    }
  }

  /**
   * Times the configuration asked for, or the fastest that is known, or that is expected.
   *
   * @param untuned whether nothing is known
   * @throws DeviceError if there is no GPU
   */
  public static Report perf(
      AttentionSearch search,
      int rounds,
      boolean untuned,
      TuningDatabase database,
      Environment environment,
      Progress progress,
      Ways ways) {
    AttentionPerf perf = new AttentionPerf(search, database, environment, progress);
    return perf.measure(rounds, device -> ways.of(perf.one(untuned, device)));
  }

  /**
   * Times as many configurations as there are trials, those of which most is expected. What an
   * earlier search has measured is not measured again, but for its fastest.
   *
   * @throws DeviceError if there is no GPU
   */
  public static Report tune(
      AttentionSearch search,
      int rounds,
      TuningDatabase database,
      Environment environment,
      Progress progress) {
    AttentionPerf perf = new AttentionPerf(search, database, environment, progress);
    return perf.measure(rounds, perf::candidates);
  }

  /** What is measured on a device. */
  private interface Choice {
    List<AttentionWay> of(DeviceModel device);
  }

  private Report measure(int rounds, Choice choice) {
    try (Gpu gpu = Gpu.find().orElseThrow(Devices::nothingToMeasureOn)) {
      DeviceModel device =
          DeviceCatalogue.find(gpu.name())
              .orElseGet(() -> AttentionTask.device((GpuTarget) gpu.target()));
      Attention attention = search.attention();
      AttentionReport report = new AttentionReport(attention, device, search.features());
      List<AttentionBench.Outcome> outcomes =
          AttentionBench.run(
              attention,
              choice.of(device),
              gpu,
              search.seed(),
              rounds,
              progress::say,
              outcome -> {
                progress.say(report.line(outcome));
                store(outcome);
              });
      return report.of(outcomes, gpu.name(), search.seed());
    }
  }

  private AttentionConfig one(boolean untuned, DeviceModel device) {
    if (search.config() != null) {
      return search.config();
    }
    Attention attention = search.attention();
    Optional<AttentionConfig> known =
        untuned
            ? Optional.empty()
            : TunedAttention.find(attention, device.target(), environment.device(), database)
                .map(TunedAttention::config);
    return known.orElseGet(() -> AttentionModel.ranked(attention, device).getFirst().config());
  }

  private List<AttentionWay> candidates(DeviceModel device) {
    Attention attention = search.attention();
    List<AttentionConfig> ranked =
        AttentionModel.eachKindFirst(AttentionModel.ranked(attention, search.space(), device));
    Map<AttentionConfig, TuningRecord> known = new LinkedHashMap<>();
    for (TuningRecord record : database.records(attention.key(), environment)) {
      AttentionConfig config = AttentionConfig.parse(record.point().text());
      if (config != null && ranked.contains(config)) {
        known.put(config, record);
      }
    }
    List<AttentionConfig> candidates = new ArrayList<>();
    known.entrySet().stream()
        .filter(entry -> entry.getValue().outcome() instanceof Outcome.Measured)
        .sorted(Comparator.comparingDouble(entry -> micros(entry.getValue())))
        .limit(AGAIN)
        .forEach(entry -> candidates.add(entry.getKey()));
    ranked.stream()
        .filter(config -> !known.containsKey(config))
        .limit(Math.max(candidates.isEmpty() ? 1 : 0, search.trials() - known.size()))
        .forEach(candidates::add);
    return candidates.stream().map(AttentionWay::of).toList();
  }

  private static double micros(TuningRecord record) {
    return record.outcome() instanceof Outcome.Measured m ? m.timeUs() : Double.POSITIVE_INFINITY;
  }

  private void store(AttentionBench.Outcome outcome) {
    if (search.features() > 0) {
      // Records are of attention alone.
      return;
    }
    Outcome stored;
    if (outcome.times() != null) {
      stored =
          new Outcome.Measured(
              outcome.micros(), outcome.times().graph().relativeSpread(), outcome.relError(), 0, 0);
    } else {
      // Without an error it has not run: its machine code is no good.
      FailureReason reason =
          Double.isNaN(outcome.relError()) ? FailureReason.COMPILE : FailureReason.WRONG;
      stored = new Outcome.Failed(reason, String.valueOf(outcome.failure()));
    }
    database.add(
        new TuningRecord(
            search.attention().key(),
            environment,
            Point.parse(outcome.config().text()),
            outcome.sourceHash(),
            stored,
            Instant.now()));
  }
}
