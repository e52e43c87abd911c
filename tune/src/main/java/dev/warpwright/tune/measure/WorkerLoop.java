package dev.warpwright.tune.measure;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.tune.measure.WorkerProtocol.Reply;
import dev.warpwright.tune.measure.WorkerProtocol.Request;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.concurrent.SynchronousQueue;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/** The main loop of a worker process: kernels come as text on standard input. */
public final class WorkerLoop {
  private static final int POISONED = 3;

  private WorkerLoop() {}

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
    // Ctrl-C reaches every process of a terminal. The tuner ends its workers: if they died by
    // themselves, the candidates that they have would be taken for the reason.
    Signal.handle(new Signal("INT"), SignalHandler.SIG_IGN);
    DataOutputStream out =
        new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)));
    // Whatever prints must not disturb the replies.
    System.setOut(System.err);
    SynchronousQueue<Request> requests = new SynchronousQueue<>();
    Thread reader = new Thread(() -> read(requests), "requests");
    reader.setDaemon(true);
    reader.start();
    out.writeByte(WorkerProtocol.READY);
    out.flush();
    while (true) {
      Request request = requests.take();
      boolean poisoned = false;
      Reply reply;
      try {
        reply = reply(request, parser, runner);
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

  private static Reply reply(Request request, IrParser parser, CandidateRunner runner)
      throws CandidateFailure {
    return switch (request.task()) {
      case COMPILE -> new Reply.Compiled(runner.compile(kernel(request, parser), request.values()));
      case TIME -> {
        Outcome.Measured outcome = runner.time(kernel(request, parser), request.values());
        yield new Reply.Timed(outcome, runner.phases());
      }
      case PREPARE -> {
        runner.prepare(kernel(request, parser), request.values());
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
    };
  }

  private static Kernel kernel(Request request, IrParser parser) {
    return parser.kernel("request", request.kernel());
  }

  private static Reply failed(FailureReason reason, Throwable e) {
    String message = e.getMessage() == null ? e.toString() : e.getMessage();
    return new Reply.Failed(
        new Outcome.Failed(reason, message.lines().findFirst().orElse(e.toString())));
  }

  private static void read(SynchronousQueue<Request> requests) {
    try (DataInputStream in = new DataInputStream(new BufferedInputStream(System.in))) {
      for (Request request = WorkerProtocol.readRequest(in);
          request != null;
          request = WorkerProtocol.readRequest(in)) {
        requests.put(request);
      }
      Runtime.getRuntime().halt(0);
    } catch (IOException | InterruptedException e) {
      // A kernel may hang in another thread: this must not wait for it.
      Runtime.getRuntime().halt(1);
    }
  }
}
