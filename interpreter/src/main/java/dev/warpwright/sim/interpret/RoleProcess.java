package dev.warpwright.sim.interpret;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.Exec;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.memory.FlowClock;
import dev.warpwright.sim.memory.FlowParty;
import dev.warpwright.sim.memory.Shadow;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One of those that execute a tile program at once: an instance of a role, or the program outside
 * of roles. It has what is under way for it.
 */
public final class RoleProcess extends FlowParty {
  /**
   * What a process waits for.
   *
   * @param what the rest of a sentence that begins with its name
   */
  record Wait(Stmt where, BooleanSupplier ready, Supplier<String> what) {}

  /** A stage that is being filled or read; one that is only looked at stays. */
  static final class Open {
    final PipeRun pipe;
    final boolean produce;
    final boolean peek;
    final long version;

    /**
     * The how manyeth of all stages it was that the process has filled, or read; -1 before that.
     */
    long number = -1;

    Open(PipeRun pipe, boolean produce, boolean peek, long version) {
      this.pipe = pipe;
      this.produce = produce;
      this.peek = peek;
      this.version = version;
    }
  }

  /** Where an execution stands: what is done later is done as from there. */
  private record State(long[] ints, double[] floats, byte[][] memory, @Nullable Shadow[] shadows) {
    static State of(Frame f) {
      return new State(f.ints.clone(), f.floats.clone(), f.memory.clone(), f.shadows.clone());
    }

    void restore(Frame f) {
      System.arraycopy(ints, 0, f.ints, 0, ints.length);
      System.arraycopy(floats, 0, f.floats, 0, floats.length);
      System.arraycopy(memory, 0, f.memory, 0, memory.length);
      System.arraycopy(shadows, 0, f.shadows, 0, shadows.length);
    }
  }

  /**
   * A product or copy that has been issued and not waited for.
   *
   * @param in the stage for which it is; null if a wait says when it is over
   * @param stages it is over once so many more stages have been filled, or read; or the group of
   *     products that is waited for
   */
  private record UnderWay(Exec work, State at, @Nullable Open in, int stages, Leaves touches) {}

  /** What all processes of one execution share. */
  static final class Shared {
    /** By counter, what those who signalled it had done. */
    final Map<Long, FlowClock> counters = new HashMap<>();

    /** Barrier objects, see {@link FlowBarriers}. */
    final Map<FlowBarriers.Place, Object> barriers = new HashMap<>();

    /** Of tiles whose parts have not all come, the sums of those that have. */
    final Map<Long, List<byte[]>> parts = new HashMap<>();

    /** Of loops whose items are drawn, how many have been, by whichever block. */
    private final Map<Stmt.For, Long> drawn = new IdentityHashMap<>();

    private int together;

    /** The next item of a loop. */
    long draw(Stmt.For loop) {
      return drawn.merge(loop, 1L, Long::sum) - 1;
    }

    /** A number for processes that run at once. */
    int nextTogether() {
      return ++together;
    }
  }

  final Shared shared;
  private final @Nullable RoleScheduler scheduler;
  private final Deque<UnderWay> underWay = new ArrayDeque<>();

  /** A stage that is committed, or released, once as many have been filled, or read. */
  private record Waiting(Open stage, long until) {}

  private final List<Waiting> uncommitted = new ArrayList<>();
  private final List<Waiting> held = new ArrayList<>();
  private long filled;
  private long read;

  /** Groups of products that have been issued. */
  private int groups;

  final Map<Pipe, PipeRun> pipes = new IdentityHashMap<>();
  final Deque<Open> open = new ArrayDeque<>();

  /** Outside of roles. */
  public RoleProcess() {
    super("", FlowClock.ALONE);
    this.shared = new Shared();
    this.scheduler = null;
  }

  /** An instance of a role, begun by {@code parent}. */
  public RoleProcess(String name, RoleScheduler scheduler, FlowClock clock, RoleProcess parent) {
    super(name, clock);
    this.shared = parent.shared;
    this.scheduler = scheduler;
    pipes.putAll(parent.pipes);
  }

  /** The execution of a pipe that is declared here. */
  PipeRun pipe(Pipe pipe) {
    PipeRun run = pipes.get(pipe);
    if (run == null) {
      throw new IllegalStateException("pipe " + pipe.name() + " is not declared here");
    }
    return run;
  }

  /** Goes on when the condition holds; outside of roles it must hold already. */
  void await(Wait wait, Context context, Frame f) {
    if (scheduler != null) {
      scheduler.park(this, wait);
    } else if (!wait.ready.getAsBoolean()) {
      throw context.fault(
          Finding.Kind.DEADLOCK, wait.where, f, "", "the program waits for " + wait.what.get());
    }
  }

  /** A place at which others may come first. */
  void pause(Stmt where) {
    if (scheduler != null) {
      scheduler.park(this, new Wait(where, () -> true, () -> "nothing"));
    }
  }

  /** Issues what is over only when so many more stages of the innermost pipe have ended. */
  void issue(Frame f, Exec work, boolean product, int stages, Leaves touches) {
    for (Open each : open) {
      if (each.produce != product && !each.peek) {
        underWay.add(new UnderWay(work, State.of(f), each, stages, touches));
        return;
      }
    }
    work.run(f);
  }

  /**
   * Issues a product that is over only when a wait says so.
   *
   * @param last whether it ends its group
   */
  void issueGroup(Frame f, Exec work, boolean last, Leaves touches) {
    underWay.add(new UnderWay(work, State.of(f), null, groups, touches));
    groups += last ? 1 : 0;
  }

  /** Waits for all but so many groups of products. */
  void waitForGroups(Frame f, long pending) {
    int last = 0;
    int i = 0;
    for (UnderWay each : underWay) {
      i++;
      if (each.in == null && each.stages < groups - pending) {
        last = i;
      }
    }
    finish(f, last);
  }

  /** Something that is done later, as from here. */
  static Runnable later(Frame f, Runnable work) {
    State then = State.of(f);
    return () -> {
      State now = State.of(f);
      then.restore(f);
      work.run();
      now.restore(f);
    };
  }

  /**
   * A stage has been filled or read. Stages that have waited for as many others as their pipes ask
   * for are committed, or released; what was under way for them is over before that.
   */
  void ended(Frame f, Open stage, int wait) {
    boolean produce = stage.produce;
    stage.number = produce ? filled++ : read++;
    long now = stage.number;
    int last = 0;
    int i = 0;
    for (UnderWay each : underWay) {
      i++;
      Open in = each.in;
      if (in != null && in.produce == produce && in.number >= 0 && in.number + each.stages <= now) {
        last = i;
      }
    }
    finish(f, last);
    List<Waiting> waiting = produce ? uncommitted : held;
    waiting.add(new Waiting(stage, now + wait));
    for (Waiting each : List.copyOf(waiting)) {
      if (each.until <= now) {
        waiting.remove(each);
        each.stage.pipe.settled(this, each.stage);
      }
    }
  }

  /** Waits for its own copies into a stage that it is about to read, and commits it. */
  void commit(Frame f, PipeRun pipe, long version) {
    for (Waiting each : List.copyOf(uncommitted)) {
      if (each.stage.pipe == pipe && each.stage.version <= version) {
        completeProduced(f, pipe, version);
        uncommitted.remove(each);
        pipe.settled(this, each.stage);
      }
    }
  }

  /** Waits for everything, commits everything, releases everything; of one pipe or of all. */
  void drain(Frame f, @Nullable PipeRun pipe) {
    completeAll(f);
    for (List<Waiting> waiting : List.of(uncommitted, held)) {
      for (Waiting each : List.copyOf(waiting)) {
        if (pipe == null || each.stage.pipe == pipe) {
          waiting.remove(each);
          each.stage.pipe.settled(this, each.stage);
        }
      }
    }
  }

  /** Waits for what was issued to fill stages up to this one. */
  private void completeProduced(Frame f, PipeRun pipe, long version) {
    int last = 0;
    int i = 0;
    for (UnderWay each : underWay) {
      i++;
      Open in = each.in;
      if (in != null && in.pipe == pipe && in.produce && in.version <= version) {
        last = i;
      }
    }
    finish(f, last);
  }

  void completeAll(Frame f) {
    finish(f, underWay.size());
  }

  /** Waits for everything if a statement touches results or operands that are under way. */
  void completeFor(Frame f, Leaves leaf) {
    for (UnderWay each : underWay) {
      if (meet(each.touches.writes(), leaf.reads())
          || meet(each.touches.writes(), leaf.writes())
          || meet(each.touches.reads(), leaf.writes())) {
        completeAll(f);
        return;
      }
    }
  }

  private static boolean meet(Set<Buffer> a, Set<Buffer> b) {
    return a.stream().anyMatch(b::contains);
  }

  /** Waits for so many of those that were issued first. */
  private void finish(Frame f, int count) {
    if (count == 0) {
      return;
    }
    List<UnderWay> due = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      due.add(underWay.remove());
    }
    State now = State.of(f);
    for (UnderWay each : due) {
      each.at.restore(f);
      Open in = each.in;
      if (in != null) {
        System.arraycopy(now.shadows, 0, f.shadows, 0, now.shadows.length);
        // What a stage's memory holds by now, and who may know it, is the stage's.
        in.pipe.shadow(f, in.version);
      }
      each.work.run(f);
    }
    now.restore(f);
  }
}
