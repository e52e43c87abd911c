package dev.warpwright.tune.measure;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.tune.measure.CandidateRunner.Ready;
import dev.warpwright.tune.measure.WorkerProtocol.Reply;
import dev.warpwright.tune.measure.WorkerProtocol.Request;
import dev.warpwright.tune.measure.WorkerProtocol.Task;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/**
 * The main loop of a worker process: kernels come as text on standard input. What will be timed is
 * read and its machine code found by another thread, while the device is busy.
 */
public final class WorkerLoop {
  private static final int POISONED = 3;

  /** So many kernels that were to be timed and never were are kept. */
  private static final int KEPT = 64;

  private final IrParser parser;
  private final CandidateRunner runner;
  private final SynchronousQueue<Request> requests = new SynchronousQueue<>();

  /** By the request that will come for them. */
  private final Map<Request, Future<Ready>> ahead =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Request, Future<Ready>> eldest) {
              return size() > KEPT;
            }
          });

  private final ExecutorService preparing =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("ahead").factory());

  private WorkerLoop(IrParser parser, CandidateRunner runner) {
    this.parser = parser;
    this.runner = runner;
  }

  /**
   * Serves until standard input ends, which is also how the death of the tuner shows.
   *
   * @param parser that knows the intrinsics of the kernels
   * @param runner compiles and times
   * @throws IOException if the tuner cannot be read from or written to
   * @throws InterruptedException if the thread is interrupted
   */
  public static void serve(IrParser parser, CandidateRunner runner)
      throws IOException, InterruptedException {
    new WorkerLoop(parser, runner).serve();
  }

  private void serve() throws IOException, InterruptedException {
    // Ctrl-C reaches every process of a terminal. The tuner ends its workers: if they died by
    // themselves, the candidates that they have would be taken for the reason.
    Signal.handle(new Signal("INT"), SignalHandler.SIG_IGN);
    DataOutputStream out =
        new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)));
    // Whatever prints must not disturb the replies.
    System.setOut(System.err);
    Thread reader = new Thread(this::read, "requests");
    reader.setDaemon(true);
    reader.start();
    out.writeByte(WorkerProtocol.READY);
    out.flush();
    while (true) {
      Request request = requests.take();
      boolean poisoned = false;
      Reply reply;
      try {
        reply = reply(request);
      } catch (CandidateFailure e) {
        poisoned = e.poisoned();
        reply = failed(e.reason(), e);
      } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
        reply = failed(FailureReason.CRASH, e);
      }
      WorkerProtocol.write(out, reply);
      if (poisoned) {
        Runtime.getRuntime().halt(POISONED);
      }
    }
  }

  private Reply reply(Request request) throws CandidateFailure, InterruptedException {
    return switch (request.task()) {
      case COMPILE -> new Reply.Compiled(runner.compile(kernel(request), request.values()));
      case TIME -> {
        Outcome.Measured outcome = ready(request).time();
        yield new Reply.Timed(outcome, runner.phases());
      }
      case PREPARE -> {
        runner.prepare(kernel(request), request.values());
        yield new Reply.Ready();
      }
      case OPEN -> {
        runner.open();
        yield new Reply.Ready();
      }
      case LOAD -> {
        runner.load();
        yield new Reply.Ready();
      }
      case AHEAD -> throw new IllegalStateException("not for this thread");
    };
  }

  private Ready ready(Request request) throws CandidateFailure, InterruptedException {
    Future<Ready> prepared = ahead.remove(request);
    if (prepared != null) {
      try {
        return prepared.get();
      } catch (ExecutionException e) {
        // It goes wrong again, here, where somebody is told.
      }
    }
    return runner.ready(kernel(request), request.values());
  }

  private Kernel kernel(Request request) {
    return parser.kernel("request", request.kernel());
  }

  private static Reply failed(FailureReason reason, Throwable e) {
    return new Reply.Failed(new Outcome.Failed(reason, CandidateFailure.oneLine(e)));
  }

  private void read() {
    try (DataInputStream in = new DataInputStream(new BufferedInputStream(System.in))) {
      for (Request request = WorkerProtocol.readRequest(in);
          request != null;
          request = WorkerProtocol.readRequest(in)) {
        if (request.task() == Task.AHEAD) {
          Request later = new Request(Task.TIME, request.kernel(), request.values());
          ahead.put(later, preparing.submit(() -> runner.ready(kernel(later), later.values())));
        } else {
          requests.put(request);
        }
      }
      Runtime.getRuntime().halt(0);
    } catch (IOException | InterruptedException e) {
      // A kernel may hang in another thread: this must not wait for it.
      Runtime.getRuntime().halt(1);
    }
  }
}
