package dev.warpwright.tune.measure;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Rejected;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.tune.measure.WorkerProtocol.Reply;
import dev.warpwright.tune.measure.WorkerProtocol.Request;
import dev.warpwright.tune.measure.WorkerProtocol.Task;
import java.time.Duration;
import java.util.ArrayList;
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

/**
 * Measures on this machine. Kernels are built in this process, where nothing of them runs; they are
 * compiled in some child processes and run in others, one for each device, and cross over as text.
 * A child that faults, hangs or dies is replaced, and its candidate has an outcome.
 */
public final class ProcessMeasurer implements Measurer {
  private static final int AHEAD = 2;

  /**
   * How it is done.
   *
   * @param command starts a worker process whose main method calls {@link WorkerLoop#serve}
   * @param compilers how many compile at a time
   * @param devices environment variables of the worker of each device
   * @param compileLimit of one kernel
   * @param timeLimit of verifying and timing one kernel
   */
  public record Setup(
      List<String> command,
      int compilers,
      List<Map<String, String>> devices,
      Duration compileLimit,
      Duration timeLimit) {
    /** Copies the lists and checks the numbers. */
    public Setup {
      command = List.copyOf(command);
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
      add(compilers, Map.of());
    }
    setup.devices().forEach(environment -> add(devices, environment));
  }

  private void add(BlockingQueue<WorkerProcess> queue, Map<String, String> environment) {
    WorkerProcess worker = new WorkerProcess(setup.command(), environment);
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
    return CompletableFuture.supplyAsync(() -> compile(candidate), compiling)
        .thenCompose(
            compiled ->
                compiled.reply() instanceof Reply.Compiled
                    ? CompletableFuture.supplyAsync(() -> time(candidate, compiled), timing)
                    : CompletableFuture.completedFuture(
                        new Trial(candidate, "", outcome(compiled.reply()))));
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
          "", new Reply.Failed(new Outcome.Failed(FailureReason.REJECTED, oneLine(e))));
    } catch (RuntimeException e) {
      // A mistake of the generator costs this candidate, not the search.
      return new CompiledText(
          "", new Reply.Failed(new Outcome.Failed(FailureReason.CRASH, oneLine(e))));
    }
    Request request = new Request(Task.COMPILE, text, candidate.values());
    return new CompiledText(
        text, with(compilers, worker -> worker.ask(request, setup.compileLimit())));
  }

  private static String oneLine(RuntimeException e) {
    String message = e.getMessage() == null ? e.toString() : e.getMessage();
    return message.lines().findFirst().orElse(e.toString());
  }

  private Trial time(Candidate candidate, CompiledText compiled) {
    Request request = new Request(Task.TIME, compiled.kernel(), candidate.values());
    Reply reply = with(devices, worker -> worker.ask(request, setup.timeLimit()));
    String hash = compiled.reply() instanceof Reply.Compiled(String h) ? h : "";
    return new Trial(candidate, hash, outcome(reply));
  }

  private static Outcome outcome(Reply reply) {
    return switch (reply) {
      case Reply.Timed(Outcome.Measured measured) -> measured;
      case Reply.Failed(Outcome.Failed failed) -> failed;
      case Reply.Compiled _ ->
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
