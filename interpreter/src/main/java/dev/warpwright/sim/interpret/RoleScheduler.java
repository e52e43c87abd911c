package dev.warpwright.sim.interpret;

import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.interpret.RoleProcess.Wait;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs processes by turns, one at a time: at each pipe and signal the next one is chosen among
 * those that can go on. The same seed gives the same turns. If none can go on, that is a deadlock.
 */
final class RoleScheduler {
  /** Ends a process that will never go on. */
  private static final class Cancelled extends Error {
    private static final long serialVersionUID = 1L;

    Cancelled() {
      super("cancelled", null, false, false);
    }
  }

  /** A process, its thread, and what it waits for. */
  private static final class Turn {
    final RoleProcess process;
    final Semaphore go = new Semaphore(0);
    @Nullable Wait wait;
    boolean done;

    Turn(RoleProcess process) {
      this.process = process;
    }
  }

  private final Context context;
  private final Manner manner;
  private final SplittableRandom random;
  private final List<Turn> turns = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final Semaphore back = new Semaphore(0);
  private @Nullable Throwable failure;
  private boolean cancelled;

  RoleScheduler(Context context, Manner manner) {
    this.context = context;
    this.manner = manner;
    this.random = new SplittableRandom(manner.seed());
  }

  /** One more process, which is not begun yet. */
  void add(RoleProcess process, Runnable body) {
    Turn turn = new Turn(process);
    turns.add(turn);
    threads.add(Thread.ofVirtual().unstarted(() -> execute(turn, body)));
  }

  private void execute(Turn turn, Runnable body) {
    try {
      turn.go.acquireUninterruptibly();
      if (!cancelled) {
        body.run();
      }
    } catch (Cancelled e) {
      // Its end is what was asked for.
    } catch (RuntimeException | Error e) {
      failure = e;
    } finally {
      turn.done = true;
      back.release();
    }
  }

  /** Lets others go on; returns when it is the process's turn and what it waits for is there. */
  void park(RoleProcess process, Wait wait) {
    for (Turn turn : turns) {
      if (turn.process == process) {
        turn.wait = wait;
        back.release();
        turn.go.acquireUninterruptibly();
        if (cancelled) {
          throw new Cancelled();
        }
        return;
      }
    }
    throw new IllegalStateException(process.name() + " does not run here");
  }

  /** Runs all processes to their ends. */
  void run(Frame f) {
    threads.forEach(Thread::start);
    int last = 0;
    try {
      while (failure == null) {
        List<Integer> ready = new ArrayList<>();
        boolean alive = false;
        for (int i = 0; i < turns.size(); i++) {
          Turn turn = turns.get(i);
          alive |= !turn.done;
          Wait wait = turn.wait;
          if (!turn.done && (wait == null || wait.ready().getAsBoolean())) {
            ready.add(i);
          }
        }
        if (!alive) {
          return;
        }
        if (ready.isEmpty()) {
          throw deadlock(f);
        }
        last = manner.order().next(ready, last, random);
        turns.get(last).go.release();
        back.acquireUninterruptibly();
      }
      rethrow(failure);
    } finally {
      cancel();
    }
  }

  private void cancel() {
    cancelled = true;
    for (Turn turn : turns) {
      if (!turn.done) {
        turn.go.release();
        back.acquireUninterruptibly();
      }
    }
  }

  private static void rethrow(Throwable failure) {
    switch (failure) {
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new IllegalStateException(failure);
    }
  }

  private SimulationError deadlock(Frame f) {
    List<String> waits = new ArrayList<>();
    @Nullable Wait first = null;
    for (Turn turn : turns) {
      Wait wait = turn.wait;
      if (!turn.done && wait != null) {
        first = first == null ? wait : first;
        Supplier<String> what = wait.what();
        int line = context.source().line(wait.where());
        waits.add(
            turn.process.name()
                + " waits for "
                + what.get()
                + (line > 0 ? " in line " + line : ""));
      }
    }
    if (first == null) {
      throw new IllegalStateException("no process is alive");
    }
    return context.fault(Finding.Kind.DEADLOCK, first.where(), f, "", String.join("; ", waits));
  }
}
