package dev.warpwright.cli.fusion;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.cli.fusion.NetworkCandidates.Made;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.compiler.fusion.PerLayerWay;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.SourceHash;
import dev.warpwright.cuda.compile.CompileError;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.families.tuned.CompiledCheck;
import dev.warpwright.ir.Kernel;
import dev.warpwright.measure.network.NetworkBench;
import dev.warpwright.measure.network.NetworkResult;
import dev.warpwright.runtime.cuda.DeviceSensors;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.measure.CandidateRunner;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Compiles, verifies and times the alternatives of one network, in a process of its own. A kernel
 * alone does not say how its weights are packed, so alternatives are made here again, by number.
 */
final class NetworkRunner implements CandidateRunner {
  /**
   * Bytes that a thread may spill. A choice without a search weighs them, too: ways that spill some
   * hundred were the fastest of two networks of 18, for others have fewer rows under way. One that
   * spills 1552 was chosen, and what a search is beside the choice has to be known.
   */
  private static final int MOST_SPILLED = 2048;

  /** The value that tells which alternative is meant; others tell its kernels. */
  private static final String ALTERNATIVE = "alternative";

  private static final int ROUNDS = 5;

  private final NetworkTask task;
  private final GpuTarget target;
  private final NetworkCandidates candidates;
  private @Nullable Bench bench;

  /** The device, with the data on it. */
  private static final class Bench {
    final Gpu device;
    final NetworkBench bench;
    final Optional<DeviceSensors> sensors;

    Bench(NetworkTask task, GpuTarget target) {
      device = Gpu.require(target);
      sensors = DeviceSensors.open(device.context().device());
      bench = new NetworkBench(device, NetworkReference.of(task), ROUNDS, false, line -> {});
    }
  }

  NetworkRunner(NetworkTask task, GpuTarget target, NetworkCandidates candidates) {
    this.task = task;
    this.target = target;
    this.candidates = candidates;
  }

  /**
   * What tells a runner which way is meant.
   *
   * @param names of all alternatives
   * @param name one of them, or one with kernels of its own
   */
  static Map<String, Long> values(List<String> names, String name) {
    Map<String, Long> values = new LinkedHashMap<>();
    values.put(ALTERNATIVE, (long) names.indexOf(NetworkCandidates.alternative(name)));
    PerLayerWay.of(name)
        .ifPresent(
            way ->
                way.kernels()
                    .forEach(
                        (call, digest) ->
                            values.put(call, (long) HexFormat.fromHexDigits(digest))));
    return values;
  }

  /** The name that values stand for. */
  static String name(List<String> names, Map<String, Long> values) throws CandidateFailure {
    Long number = values.get(ALTERNATIVE);
    if (number == null || number < 0 || number >= names.size()) {
      throw new CandidateFailure(FailureReason.REJECTED, "there is no alternative " + number);
    }
    String name = names.get((int) (long) number);
    PerLayerWay way = PerLayerWay.of(name).orElse(null);
    for (Map.Entry<String, Long> value : values.entrySet()) {
      if (way != null && !value.getKey().equals(ALTERNATIVE)) {
        way = way.with(value.getKey(), HexFormat.of().toHexDigits((int) (long) value.getValue()));
      }
    }
    return way == null ? name : way.name();
  }

  private Made make(Map<String, Long> values) throws CandidateFailure {
    return candidates
        .make(name(candidates.names(), values))
        .orElseThrow(
            () ->
                new CandidateFailure(
                    FailureReason.REJECTED, "the target does not carry this alternative"));
  }

  @Override
  public String compile(Kernel kernel, Map<String, Long> values) throws CandidateFailure {
    Made made = make(values);
    String source = CudaPrinter.print(made.program().program(), target);
    Cubin cubin;
    try {
      cubin = CudaCompilers.compile(source, target);
    } catch (CompileError e) {
      throw new CandidateFailure(FailureReason.COMPILE, CandidateFailure.oneLine(e));
    }
    // The old way may spill, for it may be the only one.
    if (!made.name().equals(NetworkCandidates.OLD)) {
      for (Kernel each : made.program().program().kernels()) {
        Optional<Outcome.Failed> problem = CompiledCheck.problem(each, cubin);
        if (problem.isPresent() && CompiledCheck.spills(each, cubin) > MOST_SPILLED) {
          throw new CandidateFailure(problem.get().reason(), problem.get().message());
        }
      }
    }
    return SourceHash.of(source);
  }

  @Override
  public Outcome.Measured time(Kernel kernel, Map<String, Long> values) throws CandidateFailure {
    Made made = make(values);
    if (bench == null) {
      bench = new Bench(task, target);
    }
    Bench here = bench;
    NetworkResult result;
    try {
      result = here.bench.run(List.of(made.program())).results().getFirst();
    } catch (UserError | DeviceError e) {
      throw new CandidateFailure(
          here.device.context().isLost() ? FailureReason.FAULT : FailureReason.LAUNCH,
          CandidateFailure.oneLine(e),
          here.device.context().isLost());
    }
    if (result.failure() != null) {
      throw new CandidateFailure(result.failure().reason(), result.failure().message());
    }
    if (result.times() == null || result.error() == null) {
      throw new CandidateFailure(FailureReason.CRASH, "it was not timed");
    }
    return new Outcome.Measured(
        result.times().micros(),
        result.times().burst().relativeSpread(),
        result.error().relative(),
        here.sensors.map(DeviceSensors::clockMhz).orElse(0),
        here.sensors.map(DeviceSensors::temperature).orElse(0));
  }
}
