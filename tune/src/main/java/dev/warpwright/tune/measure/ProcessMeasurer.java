package dev.warpwright.tune.measure;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Rejected;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.tune.measure.WorkerProtocol.Reply;
import dev.warpwright.tune.measure.WorkerProtocol.Request;
import dev.warpwright.tune.measure.WorkerProtocol.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Measures on this machine. Kernels are built in this process, where nothing of them runs; they are
 * compiled in some child processes and run in others, one for each device, and cross over as text.
 * A child that faults, hangs or dies is replaced, and its candidate has an outcome.
 */
public final class ProcessMeasurer implements Measurer {
  private static final int AHEAD = 2;

  /** So many compiling processes start at once, the others when there is work for them. */
  private static final int AT_ONCE = 16;

  /** Of so many candidates the kernels' texts are kept: the best are measured again in the end. */
  private static final int KEPT_TEXTS = 128;

  /**
   * How it is done.
   *
   * @param command starts a worker process whose main method calls {@link WorkerLoop#serve}
   * @param compilerCommand starts one of those that compile
   * @param compilers how many compile at a time
   * @param devices environment variables of the worker of each device
   * @param compileLimit of one kernel
   * @param timeLimit of verifying and timing one kernel
   */
  public record Setup(
      List<String> command,
      List<String> compilerCommand,
      int compilers,
      List<Map<String, String>> devices,
      Duration compileLimit,
      Duration timeLimit) {
    /**
     * All processes alike.
     *
     * @param command starts a worker process whose main method calls {@link WorkerLoop#serve}
     * @param compilers how many compile at a time
     * @param devices environment variables of the worker of each device
     * @param compileLimit of one kernel
     * @param timeLimit of verifying and timing one kernel
     */
    public Setup(
        List<String> command,
        int compilers,
        List<Map<String, String>> devices,
        Duration compileLimit,
        Duration timeLimit) {
      this(command, command, compilers, devices, compileLimit, timeLimit);
    }

    /** Copies the lists and checks the numbers. */
    public Setup {
      command = List.copyOf(command);
      compilerCommand = List.copyOf(compilerCommand);
      devices = devices.stream().map(Map::copyOf).toList();
      if (compilers < 1 || devices.isEmpty()) {
        throw new IllegalArgumentException(compilers + " compilers, devices " + devices);
      }
    }
  }

  private final Setup setup;
  private final ExecutorService compiling;
  private final ExecutorService timing;
  private final BlockingQueue<WorkerProcess> compilers = new LinkedBlockingQueue<>();
  private final BlockingQueue<WorkerProcess> devices = new LinkedBlockingQueue<>();
  private final List<WorkerProcess> all = new ArrayList<>();
  private final TimeAccount account = new TimeAccount();

  /** The process of the device; null if there are several, of which any may time a candidate. */
  private final @Nullable WorkerProcess only;

  /** The last that compiled. */
  private final Map<Candidate, CompiledText> texts =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Candidate, CompiledText> eldest) {
              return size() > KEPT_TEXTS;
            }
          });

  /**
   * Prepares; processes start when there is something to measure.
   *
   * @param setup which processes, and how long they may take
   */
  public ProcessMeasurer(Setup setup) {
    this.setup = setup;
    this.compiling = Executors.newFixedThreadPool(setup.compilers(), daemon("compile"));
    this.timing = Executors.newFixedThreadPool(setup.devices().size(), daemon("time"));
    for (int i = 0; i < setup.compilers(); i++) {
      add(compilers, setup.compilerCommand(), Map.of());
    }
    setup.devices().forEach(environment -> add(devices, setup.command(), environment));
    this.only = devices.size() == 1 ? devices.peek() : null;
  }

  private void add(
      BlockingQueue<WorkerProcess> queue, List<String> command, Map<String, String> environment) {
    WorkerProcess worker = new WorkerProcess(command, environment);
    queue.add(worker);
    all.add(worker);
  }

  private static ThreadFactory daemon(String name) {
    return Thread.ofPlatform().daemon().name(name, 1).factory();
  }

  @Override
  public int width() {
    return setup.compilers() + AHEAD * setup.devices().size();
  }

  @Override
  public CompletableFuture<Trial> measure(Candidate candidate) {
    return ahead(candidate).measure();
  }

  @Override
  public Ahead ahead(Candidate candidate) {
    CompiledText known = texts.get(candidate);
    CompletableFuture<CompiledText> compiled =
        known != null
            ? CompletableFuture.completedFuture(known)
            : CompletableFuture.supplyAsync(() -> compile(candidate), compiling);
    return () -> {
      account.want(1);
      return compiled
          .thenCompose(
              text ->
                  text.reply() instanceof Reply.Compiled
                      ? timed(candidate, text)
                      : CompletableFuture.completedFuture(
                          new Trial(candidate, "", outcome(text.reply()))))
          .whenComplete((trial, broken) -> account.want(-1));
    };
  }

  /** To be timed when its turn comes; a single device gets it ready until then. */
  private CompletableFuture<Trial> timed(Candidate candidate, CompiledText text) {
    if (only != null) {
      only.tell(new Request(Task.AHEAD, text.kernel(), candidate.values()));
    }
    return CompletableFuture.supplyAsync(() -> time(candidate, text), timing);
  }

  @Override
  public void prepare(Candidate first) {
    // What goes wrong here goes wrong again, and is told, when a candidate is measured.
    compiling.execute(() -> prepareFor(first));
  }

  @Override
  public void open() {
    Request open = new Request(Task.OPEN, "", Map.of());
    Request load = new Request(Task.LOAD, "", Map.of());
    setup.devices().forEach(device -> timing.execute(() -> askDevice(open)));
    for (int i = 0; i < Math.min(setup.compilers(), AT_ONCE); i++) {
      compiling.execute(() -> with(compilers, worker -> worker.ask(load, setup.compileLimit())));
    }
  }

  private void prepareFor(Candidate first) {
    try {
      Request request =
          new Request(Task.PREPARE, IrPrinter.text(first.kernel().get()), first.values());
      with(compilers, worker -> worker.ask(request, setup.compileLimit()));
    } catch (RuntimeException e) {
      // Of a candidate that cannot be built nothing is prepared.
    }
  }

  @Override
  public Optional<MeasuringTimes> times() {
    return Optional.of(account.times());
  }

  /**
   * Compiles a candidate and does not run it: for machines without a device.
   *
   * @param candidate to be built and compiled
   * @return its failure; empty if it compiles
   */
  public CompletableFuture<Optional<Outcome.Failed>> compileOnly(Candidate candidate) {
    return CompletableFuture.supplyAsync(() -> compile(candidate), compiling)
        .thenApply(
            compiled ->
                compiled.reply() instanceof Reply.Failed(Outcome.Failed failed)
                    ? Optional.of(failed)
                    : Optional.empty());
  }

  /** A kernel as text, and what its compiler said. */
  private record CompiledText(String kernel, Reply reply) {}

  private CompiledText compile(Candidate candidate) {
    String text;
    try {
      Kernel kernel = candidate.kernel().get();
      text = IrPrinter.text(kernel);
    } catch (Rejected e) {
      return new CompiledText(
          "",
          new Reply.Failed(
              new Outcome.Failed(FailureReason.REJECTED, CandidateFailure.oneLine(e))));
    } catch (RuntimeException e) {
      // A mistake of the generator costs this candidate, not the search.
      return new CompiledText(
          "",
          new Reply.Failed(new Outcome.Failed(FailureReason.CRASH, CandidateFailure.oneLine(e))));
    }
    Request request = new Request(Task.COMPILE, text, candidate.values());
    Reply reply =
        with(
            compilers,
            worker -> {
              long start = System.nanoTime();
              Reply answer = worker.ask(request, setup.compileLimit());
              account.compiled(System.nanoTime() - start);
              return answer;
            });
    CompiledText compiled = new CompiledText(text, reply);
    if (reply instanceof Reply.Compiled) {
      texts.put(candidate, compiled);
    }
    return compiled;
  }

  private Trial time(Candidate candidate, CompiledText compiled) {
    Request request = new Request(Task.TIME, compiled.kernel(), candidate.values());
    Reply reply = askDevice(request);
    if (reply instanceof Reply.Timed(Outcome.Measured ignored, Phases phases)) {
      account.add(phases);
    }
    String hash = compiled.reply() instanceof Reply.Compiled(String h) ? h : "";
    return new Trial(candidate, hash, outcome(reply));
  }

  private Reply askDevice(Request request) {
    return with(
        devices,
        worker -> {
          account.run(1);
          try {
            return worker.ask(request, setup.timeLimit());
          } finally {
            account.run(-1);
          }
        });
  }

  private static Outcome outcome(Reply reply) {
    return switch (reply) {
      case Reply.Timed(Outcome.Measured measured, Phases _) -> measured;
      case Reply.Failed(Outcome.Failed failed) -> failed;
      case Reply.Compiled _, Reply.Ready _ ->
          new Outcome.Failed(FailureReason.CRASH, "the worker process answered another question");
    };
  }

  private static Reply with(
      BlockingQueue<WorkerProcess> pool, Function<WorkerProcess, Reply> work) {
    try {
      WorkerProcess worker = pool.take();
      try {
        return work.apply(worker);
      } finally {
        pool.add(worker);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Reply.Failed(new Outcome.Failed(FailureReason.CRASH, "interrupted"));
    }
  }

  @Override
  public void close() {
    compiling.shutdownNow();
    timing.shutdownNow();
    all.forEach(WorkerProcess::close);
  }
}
