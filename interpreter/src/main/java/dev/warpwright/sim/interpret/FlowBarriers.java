package dev.warpwright.sim.interpret;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Op;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.sim.expr.Exec;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.memory.FlowClock;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Barrier objects and TMA copies in tile programs, where an instance of a role is one process: what
 * pipes become before tiles become threads. A barrier counts arrivals and bytes as on the device,
 * and hands on what those who arrived had done; a TMA copy is over when it is issued, or, where
 * things happen as late as allowed, when somebody waits for its barrier. What only orders threads
 * of an instance is nothing here.
 */
final class FlowBarriers {
  private static final long MAX_BYTES = (1 << 20) - 1;

  /** A barrier's state. */
  private static final class State {
    long expected;
    long pending;
    long bytes;
    long phase;

    /** The number of ended phases that some wait has seen. */
    long seen;

    /** Bytes of copies that are under way, and those copies. */
    long coming;

    final List<Runnable> copies = new ArrayList<>();

    void complete() {
      List<Runnable> due = List.copyOf(copies);
      copies.clear();
      due.forEach(Runnable::run);
    }

    /** Whether others may use it. */
    boolean fenced;

    FlowClock arrived = FlowClock.ALONE;
    FlowClock over = FlowClock.ALONE;

    void settle() {
      if (pending == 0 && bytes == 0) {
        phase++;
        pending = expected;
        over = arrived;
      }
    }
  }

  /** Where a barrier lies: its buffer's memory is another one in each block. */
  record Place(int slot, long element) {}

  private final StmtCompiler stmts;

  private final boolean late;

  FlowBarriers(StmtCompiler stmts, boolean late) {
    this.stmts = stmts;
    this.late = late;
  }

  /** The execution of a call; null if it is none of these. */
  @Nullable Exec compile(Stmt.Evaluate s) {
    Expr.Call call = s.call();
    Op op = call.op();
    if (op == HopperIntrinsics.MBARRIER_INIT) {
      return init(s, call);
    }
    if (op == HopperIntrinsics.MBARRIER_ARRIVE) {
      return arrive(s, call.args().get(0), f -> 0);
    }
    if (op == HopperIntrinsics.MBARRIER_ARRIVE_EXPECT_TX) {
      return arrive(s, call.args().get(0), stmts.exprs(s).integer(call.args().get(1)));
    }
    if (op == HopperIntrinsics.MBARRIER_WAIT) {
      return await(s, call);
    }
    if (op == HopperIntrinsics.BULK_LOAD
        || op == HopperIntrinsics.BULK_LOAD_3D
        || op == HopperIntrinsics.BULK_LOAD_LINEAR) {
      return load(s, call);
    }
    if (op == HopperIntrinsics.WGMMA_WAIT) {
      LongExpr pending = stmts.exprs(s).integer(call.args().getFirst());
      return f -> process(f).waitForGroups(f, pending.eval(f));
    }
    if (op == HopperIntrinsics.FENCE_MBARRIER_INIT) {
      return f -> process(f).shared.barriers.values().forEach(b -> ((State) b).fenced = true);
    }
    boolean orders =
        op == HopperIntrinsics.FENCE_PROXY_ASYNC
            || op == Intrinsics.CP_ASYNC_COMMIT
            || op == Intrinsics.SYNC_THREADS
            || op == Intrinsics.CP_ASYNC_WAIT
            || op == HopperIntrinsics.BAR_SYNC;
    return orders ? f -> {} : null;
  }

  /** Which barrier an operand is. */
  private interface Which {
    Place of(Frame f);
  }

  private Which which(Stmt s, Expr operand) {
    Expr.AddressOf address = (Expr.AddressOf) operand;
    int slot = stmts.context().symbols().slot(address.buffer());
    LongExpr element = stmts.exprs(s).index(address.indices().getFirst());
    return f -> new Place(slot, element.eval(f));
  }

  private static RoleProcess process(Frame f) {
    return (RoleProcess) Objects.requireNonNull(f.process);
  }

  private SimulationError misuse(Stmt s, Frame f, Place place, String what) {
    return stmts
        .context()
        .fault(Finding.Kind.BARRIER, s, f, "", "barrier " + place.element() + ": " + what);
  }

  private State state(Stmt s, Frame f, Place place) {
    State state = (State) process(f).shared.barriers.get(place);
    if (state == null) {
      throw misuse(s, f, place, "it is not made");
    }
    if (!state.fenced) {
      throw misuse(s, f, place, "no fence stands between its making and its use");
    }
    return state;
  }

  private Exec init(Stmt s, Expr.Call call) {
    Which which = which(s, call.args().get(0));
    LongExpr arrivals = stmts.exprs(s).integer(call.args().get(1));
    return f -> {
      State state = new State();
      state.expected = arrivals.eval(f);
      state.pending = state.expected;
      Place place = which.of(f);
      // The next block makes its own, behind the fence of this one.
      if (process(f).shared.barriers.put(place, state) instanceof State old && !old.fenced) {
        throw misuse(s, f, place, "it is made twice");
      }
    };
  }

  private Exec arrive(Stmt s, Expr barrier, LongExpr bytes) {
    Which which = which(s, barrier);
    return f -> {
      Place place = which.of(f);
      State state = state(s, f, place);
      if (state.pending == 0) {
        throw misuse(s, f, place, "more arrivals than the " + state.expected + " of a phase");
      }
      if (state.phase > state.seen) {
        throw misuse(s, f, place, "an arrival before anybody has seen the end of the last phase");
      }
      long more = bytes.eval(f);
      if (state.bytes + more > MAX_BYTES) {
        throw misuse(s, f, place, "more bytes than a phase can count");
      }
      state.arrived = process(f).clock.released(state.arrived);
      state.bytes += more;
      state.pending--;
      state.settle();
      process(f).pause(s);
    };
  }

  private Exec await(Stmt s, Expr.Call call) {
    Which which = which(s, call.args().get(0));
    LongExpr parity = stmts.exprs(s).integer(call.args().get(1));
    String name = ((Expr.AddressOf) call.args().get(0)).buffer().name();
    return f -> {
      Place place = which.of(f);
      State state = state(s, f, place);
      long wanted = parity.eval(f);
      process(f)
          .await(
              new RoleProcess.Wait(
                  s,
                  () -> {
                    state.complete();
                    return (state.phase & 1) != wanted;
                  },
                  () ->
                      String.format(
                          Locale.ROOT,
                          "the end of phase %d of barrier %s[%d] (%d arrivals and %d bytes are"
                              + " missing)",
                          state.phase,
                          name,
                          place.element(),
                          state.pending,
                          state.bytes)),
              stmts.context(),
              f);
      state.seen = Math.max(state.seen, state.phase);
      process(f).clock.join(state.over);
    };
  }

  private Exec load(Stmt.Evaluate s, Expr.Call call) {
    Expr.AddressOf to = (Expr.AddressOf) call.args().get(0);
    Expr.AddressOf from = (Expr.AddressOf) call.args().get(1);
    Which which = which(s, call.args().get(2));
    Expr rows = call.args().get(3);
    Expr columns = call.args().get(4);
    Exec copy =
        stmts.expansion(
            s,
            TileExpansion.copy(
                new Stmt.TileCopy(box(to, rows, columns), box(from, rows, columns), Attrs.NONE)));
    long bytes =
        ((Expr.IntImm) rows).value()
            * ((Expr.IntImm) columns).value()
            * to.buffer().dtype().bytes();
    return f -> {
      Place place = which.of(f);
      State state = state(s, f, place);
      if (state.bytes - state.coming < bytes) {
        throw misuse(s, f, place, "a copy brings bytes that its phase does not expect");
      }
      state.coming += bytes;
      Runnable work =
          () -> {
            copy.run(f);
            state.arrived = process(f).clock.released(state.arrived);
            state.coming -= bytes;
            state.bytes -= bytes;
            state.settle();
          };
      if (late) {
        state.copies.add(RoleProcess.later(f, work));
      } else {
        work.run();
      }
      process(f).pause(s);
    };
  }

  private static Region box(Expr.AddressOf corner, Expr rows, Expr columns) {
    Buffer buffer = corner.buffer();
    List<Range> ranges = new ArrayList<>();
    int rank = buffer.rank();
    for (int d = 0; d < rank; d++) {
      Expr min = corner.indices().get(d);
      ranges.add(
          d == rank - 2
              ? new Range(min, rows)
              : d == rank - 1 ? new Range(min, columns) : new Range(min, Exprs.i32(1)));
    }
    return new Region(buffer, ranges);
  }
}
