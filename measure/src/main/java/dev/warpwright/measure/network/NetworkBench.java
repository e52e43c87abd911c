package dev.warpwright.measure.network;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileError;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.measure.timing.Quantiles;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.target.GpuTarget;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Verifies and times programs of one network beside each other on a GPU. Inputs and outputs stay on
 * it until the bench is closed; all of its programs have them in the same widths and types.
 */
public final class NetworkBench implements AutoCloseable {
  /** Of more programs than this, only the fastest in bursts are timed without rest. */
  private static final int SUSTAINED = 3;

  private final Gpu device;
  private final NetworkData data;
  private final int rounds;
  private final boolean sustained;
  private final Consumer<String> progress;
  private final CudaStream stream;
  private @Nullable NetworkMemory memory;
  private int computed;

  /** A program's source and machine code, or why there is none. */
  private sealed interface Compiled {
    record Code(String source, Cubin cubin) implements Compiled {}

    record Refused(Outcome.Failed failure) implements Compiled {}
  }

  /**
   * Makes a bench.
   *
   * @param rounds of bursts; 0 to verify only
   * @param sustained whether the fastest are also timed without rest
   * @param progress is told what is going on
   */
  public NetworkBench(
      Gpu device, NetworkData data, int rounds, boolean sustained, Consumer<String> progress) {
    this.device = device;
    this.data = data;
    this.rounds = rounds;
    this.sustained = sustained;
    this.progress = progress;
    this.stream = device.context().newStream();
  }

  /**
   * What came of it.
   *
   * @param results in the order of the programs
   * @param sets of inputs and outputs that launches went through in turn
   */
  public record Result(List<NetworkResult> results, int sets) {
    public Result {
      results = List.copyOf(results);
    }
  }

  /**
   * Runs.
   *
   * @param programs of one network: inputs and outputs of the same widths and types
   * @throws DeviceError if the device fails as a whole
   */
  public Result run(List<NetworkProgram> programs) {
    return run(programs, null);
  }

  /**
   * The same, with a library beside them in the same turns.
   *
   * @param library the same network as a library's GEMMs; its result is the last, if it is
   *     installed. Null for none
   * @throws DeviceError if the device fails as a whole
   */
  public Result run(List<NetworkProgram> programs, @Nullable LibraryLayers library) {
    GpuTarget target = device.target();
    List<Compiled> compiled = compile(programs, target);
    NetworkMemory sets = memory(programs);
    List<LoadedNetwork> loaded = new ArrayList<>();
    LibraryNetwork baseline = library == null ? null : open(library, sets);
    try (BurstTimer timer = new BurstTimer(device.context(), stream)) {
      return measure(programs, compiled, sets, timer, loaded, baseline);
    } finally {
      loaded.forEach(LoadedNetwork::close);
      if (baseline != null) {
        baseline.close();
      }
    }
  }

  /** Null where it is not installed, or computes no such thing. */
  private @Nullable LibraryNetwork open(LibraryLayers library, NetworkMemory sets) {
    try {
      Optional<LibraryNetwork> opened =
          LibraryNetwork.open(
              library, data.rows(), sets, device.context(), stream, device.target());
      if (opened.isEmpty()) {
        progress.accept("cuBLASLt is not installed: there is no baseline");
      }
      return opened.orElse(null);
    } catch (DeviceError e) {
      if (device.context().isLost()) {
        throw e;
      }
      progress.accept("there is no baseline: " + CandidateFailure.oneLine(e));
      return null;
    }
  }

  private NetworkMemory memory(List<NetworkProgram> programs) {
    int most = programs.stream().mapToInt(NetworkProgram::rows).max().orElse(data.rows());
    NetworkMemory known = memory;
    if (known != null && most <= computed) {
      return known;
    }
    if (known != null) {
      known.close();
    }
    CudaContext context = device.context();
    NetworkMemory made = new NetworkMemory(programs.getFirst(), most, data, context, stream);
    memory = made;
    computed = most;
    progress.accept(
        String.format(
            Locale.ROOT,
            "%d rows, %d of them distinct, seed %d, %d sets of inputs and outputs",
            data.rows(),
            data.distinct(),
            data.seed(),
            made.count()));
    return made;
  }

  @Override
  public void close() {
    if (memory != null) {
      memory.close();
      memory = null;
    }
    stream.close();
  }

  private static List<Compiled> compile(List<NetworkProgram> programs, GpuTarget target) {
    int threads = Math.clamp(programs.size(), 1, Runtime.getRuntime().availableProcessors());
    try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
      List<Callable<Compiled>> tasks = new ArrayList<>();
      for (NetworkProgram program : programs) {
        tasks.add(() -> compile(program, target));
      }
      List<Compiled> compiled = new ArrayList<>();
      for (Future<Compiled> task : pool.invokeAll(tasks)) {
        compiled.add(task.get());
      }
      return compiled;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DeviceError("interrupted while kernels were compiled");
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException cause
          ? cause
          : new IllegalStateException(e.getCause());
    }
  }

  private static Compiled compile(NetworkProgram program, GpuTarget target) {
    String source = CudaPrinter.print(program.program(), target);
    try {
      return new Compiled.Code(source, CudaCompilers.compile(source, target));
    } catch (CompileError e) {
      return new Compiled.Refused(
          new Outcome.Failed(FailureReason.COMPILE, CandidateFailure.oneLine(e)));
    }
  }

  private Result measure(
      List<NetworkProgram> programs,
      List<Compiled> compiled,
      NetworkMemory memory,
      BurstTimer timer,
      List<LoadedNetwork> loaded,
      @Nullable LibraryNetwork baseline) {
    List<NetworkResult> results = new ArrayList<>();
    List<Integer> timed = new ArrayList<>();
    for (int i = 0; i < programs.size(); i++) {
      NetworkResult result = verify(programs.get(i), compiled.get(i), memory, loaded);
      if (result.verified() && rounds > 0) {
        timer.add(loaded.getLast()::enqueue, memory.count());
        timed.add(i);
      }
      results.add(result);
    }
    if (baseline != null) {
      NetworkResult result = verify(baseline, memory);
      if (result.verified() && rounds > 0) {
        timer.add(baseline::enqueue, memory.count());
        timed.add(results.size());
      }
      results.add(result);
    }
    List<Quantiles> bursts = timed.isEmpty() ? List.of() : timer.bursts(rounds);
    List<Integer> fastest = new ArrayList<>();
    for (int place = 0; place < timed.size(); place++) {
      fastest.add(place);
    }
    fastest.sort(Comparator.comparingDouble(place -> bursts.get(place).median()));
    for (int nth = 0; nth < fastest.size(); nth++) {
      int place = fastest.get(nth);
      int index = timed.get(place);
      double busy = sustained && nth < SUSTAINED ? timer.sustained(place) : Double.NaN;
      results.set(index, after(results.get(index), place, bursts.get(place), busy, memory, timer));
    }
    return new Result(results, memory.count());
  }

  private NetworkResult verify(
      NetworkProgram program, Compiled compiled, NetworkMemory memory, List<LoadedNetwork> loaded) {
    return switch (compiled) {
      case Compiled.Refused(Outcome.Failed failure) ->
          NetworkResult.failed(program.name(), null, failure);
      case Compiled.Code(String source, Cubin cubin) -> {
        LoadedNetwork network;
        try {
          network = new LoadedNetwork(program, source, cubin, memory, device.context(), stream);
        } catch (UserError | DeviceError e) {
          yield refused(program, e);
        }
        loaded.add(network);
        try {
          memory.poison(0);
          network.enqueue(0);
          stream.synchronize();
        } catch (DeviceError e) {
          yield refused(program, e);
        }
        NetworkError error = OutputReader.error(memory, data, 0, stream);
        NetworkResult result =
            new NetworkResult(program.name(), network.facts(), error, null, null);
        progress.accept(
            String.format(
                Locale.ROOT,
                "%s: relative error %.2e, greatest %.2e (%.2f of what an element may be off)",
                program.name(),
                error.relative(),
                error.maxAbs(),
                error.element()));
        yield error.within(data.tolerance())
            ? result
            : result.with(wrong("the result is wrong", error), error);
      }
    };
  }

  /** A library that computes something else is no baseline; that is not our mistake. */
  private NetworkResult verify(LibraryNetwork baseline, NetworkMemory memory) {
    try {
      memory.poison(0);
      baseline.enqueue(0);
      stream.synchronize();
    } catch (DeviceError e) {
      if (device.context().isLost()) {
        throw e;
      }
      return NetworkResult.failed(
          baseline.name(),
          null,
          new Outcome.Failed(FailureReason.LAUNCH, CandidateFailure.oneLine(e)));
    }
    NetworkError error = OutputReader.error(memory, data, 0, stream);
    NetworkResult result = new NetworkResult(baseline.name(), null, error, null, null);
    return error.within(data.tolerance())
        ? result
        : result.with(
            new Outcome.Failed(
                FailureReason.REJECTED, "it is no baseline: " + error.why(data.tolerance())),
            error);
  }

  /** What the timed launches wrote, which is the same memory for all, written anew. */
  private NetworkResult after(
      NetworkResult result,
      int place,
      Quantiles burst,
      double busy,
      NetworkMemory memory,
      BurstTimer timer) {
    int last = memory.count() - 1;
    memory.poison(last);
    timer.once(place);
    NetworkError error = OutputReader.error(memory, data, last, stream);
    if (!error.within(data.tolerance())) {
      return result.with(wrong("the result of the timed launches is wrong", error), error);
    }
    NetworkError first = result.error() == null ? error : result.error();
    return new NetworkResult(
        result.name(), result.facts(), first.worst(error), new NetworkTimes(burst, busy), null);
  }

  private NetworkResult refused(NetworkProgram program, RuntimeException e) {
    if (device.context().isLost()) {
      throw e;
    }
    return NetworkResult.failed(
        program.name(),
        null,
        new Outcome.Failed(FailureReason.LAUNCH, CandidateFailure.oneLine(e)));
  }

  private Outcome.Failed wrong(String what, NetworkError error) {
    return new Outcome.Failed(
        FailureReason.WRONG,
        String.format(
            Locale.ROOT, "%s: %s (seed %d)", what, error.why(data.tolerance()), data.seed()));
  }
}
