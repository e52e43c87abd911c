package dev.warpwright.tune.measure;

import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.tune.measure.WorkerProtocol.Reply;
import dev.warpwright.tune.measure.WorkerProtocol.Request;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A child process that compiles or times kernels, and is started again when it dies or is killed.
 * Used by one thread at a time, but for {@link #tell}.
 */
final class WorkerProcess implements AutoCloseable {
  private static final int KEPT_LINES = 20;
  private static final Duration START_LIMIT = Duration.ofMinutes(2);

  private final List<String> command;
  private final Map<String, String> environment;
  private volatile @Nullable Running running;

  /** The child and its pipes. */
  private record Running(
      Process process, DataOutputStream out, DataInputStream in, Deque<String> log) {}

  WorkerProcess(List<String> command, Map<String, String> environment) {
    this.command = List.copyOf(command);
    this.environment = Map.copyOf(environment);
  }

  /**
   * Asks.
   *
   * @param limit after which the process is killed; that it has to start first does not count
   * @return a failure if the process died or was killed
   */
  Reply ask(Request request, Duration limit) {
    Running worker;
    try {
      worker = running();
    } catch (IOException e) {
      return failed(FailureReason.CRASH, "no worker process could be started: " + e.getMessage());
    }
    AtomicBoolean late = new AtomicBoolean();
    CompletableFuture<Void> answered = killAfter(limit, worker.process(), late);
    try {
      synchronized (worker.out()) {
        WorkerProtocol.write(worker.out(), request);
      }
      Reply reply = WorkerProtocol.readReply(worker.in());
      if (answered.complete(null) && !poisoned(reply)) {
        return reply;
      }
      stop();
      return reply;
    } catch (IOException | IllegalArgumentException e) {
      answered.complete(null);
      String why = why(worker, late.get(), limit, e);
      stop();
      FailureReason reason =
          late.get()
              ? request.task() == WorkerProtocol.Task.TIME
                  ? FailureReason.HANG
                  : FailureReason.COMPILE
              : FailureReason.CRASH;
      return failed(reason, why);
    }
  }

  /**
   * Tells what is not answered. Any thread may, whatever is being asked; a process that does not
   * run, or dies of it, is not told again.
   */
  void tell(Request request) {
    Running worker = running;
    if (worker == null) {
      return;
    }
    try {
      synchronized (worker.out()) {
        WorkerProtocol.write(worker.out(), request);
      }
    } catch (IOException e) {
      // Whoever asks next is told that it died.
    }
  }

  /** Kills the process and says so in {@code late}, unless what is returned completes before. */
  private static CompletableFuture<Void> killAfter(
      Duration limit, Process process, AtomicBoolean late) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    var unused =
        done.orTimeout(limit.toMillis(), TimeUnit.MILLISECONDS)
            .exceptionally(
                timeout -> {
                  late.set(true);
                  process.destroyForcibly();
                  return null;
                });
    return done;
  }

  /** After a fault the worker ends by itself. */
  private static boolean poisoned(Reply reply) {
    return reply instanceof Reply.Failed failed && failed.outcome().reason() == FailureReason.FAULT;
  }

  private static String why(Running worker, boolean late, Duration limit, Exception e) {
    if (late) {
      return "no end within " + limit.toMillis() / 1000.0 + " s";
    }
    String code;
    try {
      code =
          worker.process().waitFor(5, TimeUnit.SECONDS)
              ? "exit code " + worker.process().exitValue()
              : "it does not speak the protocol: " + e.getMessage();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      code = "interrupted";
    }
    String last;
    synchronized (worker.log()) {
      last = worker.log().isEmpty() ? "" : "; last it said: " + worker.log().getLast();
    }
    return "the worker process died (" + code + ")" + last;
  }

  private static Reply failed(FailureReason reason, String message) {
    return new Reply.Failed(new Outcome.Failed(reason, message));
  }

  private Running running() throws IOException {
    Running before = running;
    if (before != null && before.process().isAlive()) {
      return before;
    }
    stop();
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment);
    Process process = builder.start();
    Deque<String> log = new ArrayDeque<>();
    Thread.ofVirtual().start(() -> keepLog(process, log));
    DataInputStream in = new DataInputStream(new BufferedInputStream(process.getInputStream()));
    CompletableFuture<Void> ready = killAfter(START_LIMIT, process, new AtomicBoolean());
    int first = in.read();
    ready.complete(null);
    Running started =
        new Running(
            process,
            new DataOutputStream(new BufferedOutputStream(process.getOutputStream())),
            in,
            log);
    if (first != WorkerProtocol.READY) {
      process.destroyForcibly();
      throw new IOException(why(started, false, START_LIMIT, new IOException("no greeting")));
    }
    running = started;
    return started;
  }

  private static void keepLog(Process process, Deque<String> log) {
    try (BufferedReader reader = process.errorReader()) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        synchronized (log) {
          log.addLast(line);
          if (log.size() > KEPT_LINES) {
            log.removeFirst();
          }
        }
      }
    } catch (IOException e) {
      // The process is gone, and so is what it had to say.
    }
  }

  private void stop() {
    Running last = running;
    if (last != null) {
      last.process().destroyForcibly();
      running = null;
    }
  }

  @Override
  public void close() {
    stop();
  }
}
