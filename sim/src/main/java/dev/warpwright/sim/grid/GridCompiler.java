package dev.warpwright.sim.grid;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.block.Trips;
import dev.warpwright.sim.block.Warp;
import dev.warpwright.sim.block.WarpNode;
import dev.warpwright.sim.call.Stores;
import dev.warpwright.sim.call.UnitCalls;
import dev.warpwright.sim.call.WarpCalls;
import dev.warpwright.sim.counter.Unrolling;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.Exec;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.finding.FindingSink;
import dev.warpwright.sim.lane.Surroundings;
import dev.warpwright.sim.lane.WarpCodeBuilder;
import dev.warpwright.sim.memory.Bytes;
import dev.warpwright.sim.memory.Shadow;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Compiles the statements of a grid kernel to {@link WarpNode}s. */
public final class GridCompiler implements Surroundings {
  /** A loop that goes round so often is taken to never end. */
  private static final long ENDLESS = 2_000_000;

  private final Context context;
  private final UnitCalls units;
  private final List<Buffer> shared = new ArrayList<>();

  /** Calls that have been compiled, where they are compiled before what is around them. */
  private final Map<Stmt.Evaluate, WarpNode> evaluated = new IdentityHashMap<>();

  private final @Nullable WarpCodeBuilder code;

  /** How many while loops are around what is compiled. */
  private int whiles;

  /** Compiles to closures. */
  public GridCompiler(Context context) {
    this.context = context;
    this.code = null;
    this.units = new UnitCalls(context);
  }

  /** Compiles what is straight in a body to bytecode. */
  public GridCompiler(Context closures, Stmt body) {
    this.code = new WarpCodeBuilder(closures, this, body);
    this.context = code.context();
    this.units = new UnitCalls(context);
  }

  /** What takes the straight parts, null if they are closures. */
  public @Nullable WarpCodeBuilder code() {
    return code;
  }

  /** The shared buffers met so far. */
  public List<Buffer> shared() {
    return shared;
  }

  public WarpNode compile(Stmt s) {
    if (code != null && !stops(s)) {
      return WarpNode.straight(code.part(s, whiles > 0));
    }
    return switch (s) {
      case Stmt.Seq seq ->
          seq(straightTogether(seq).stream().map(this::compile).toArray(WarpNode[]::new));
      case Stmt.For f -> loop(f);
      case Stmt.While w -> whileLoop(w);
      case Stmt.If i -> branch(i);
      case Stmt.Let l when code != null -> {
        List<Stmt.Let> lets = new ArrayList<>(List.of(l));
        while (lets.getLast().body() instanceof Stmt.Let next) {
          lets.add(next);
        }
        yield before(
            new WarpCalls(context, s), code.assignments(lets), compile(lets.getLast().body()));
      }
      case Stmt.Let l -> {
        WarpCalls calls = new WarpCalls(context, s);
        Exec assign = calls.exprs().assign(l.var(), l.value());
        yield before(calls, (w, mask) -> w.each(mask, assign), compile(l.body()));
      }
      case Stmt.Alloc a -> alloc(a);
      case Stmt.Store st -> Stores.compile(context, st, whiles > 0);
      case Stmt.Evaluate e -> evaluated(e);
      case Stmt.Comment c -> WarpNode.straight((w, mask) -> {});
      case Stmt.Block b -> throw refused(s);
      case Stmt.TileCopy c -> throw refused(s);
      case Stmt.TileFill t -> throw refused(s);
      case Stmt.TileMma m -> throw refused(s);
      case Stmt.TileMap m -> throw refused(s);
      case Stmt.TileReduce r -> throw refused(s);
      case Stmt.Flow flow -> throw refused(s);
    };
  }

  /** Neighbours in which no warp stops as one statement, if they become bytecode. */
  private List<Stmt> straightTogether(Stmt.Seq seq) {
    if (code == null) {
      return seq.stmts();
    }
    List<Stmt> result = new ArrayList<>();
    List<Stmt> together = new ArrayList<>();
    for (Stmt s : seq.stmts()) {
      if (!stops(s)) {
        together.add(s);
        continue;
      }
      if (!together.isEmpty()) {
        result.add(new Stmt.Seq(together));
        together.clear();
      }
      result.add(s);
    }
    if (!together.isEmpty()) {
      result.add(new Stmt.Seq(together));
    }
    return result;
  }

  /** Whether a warp may stop inside. */
  private boolean stops(Stmt s) {
    boolean[] found = {false};
    Walk.statements(
        s,
        inner ->
            found[0] |=
                switch (inner) {
                  case Stmt.Evaluate e -> evaluated(e).stops();
                  case Stmt.While _ -> true;
                  case Stmt.Block _,
                      Stmt.TileCopy _,
                      Stmt.TileFill _,
                      Stmt.TileMma _,
                      Stmt.TileMap _,
                      Stmt.TileReduce _,
                      Stmt.Flow _ ->
                      throw refused(inner);
                  case Stmt.Seq _,
                      Stmt.For _,
                      Stmt.If _,
                      Stmt.Let _,
                      Stmt.Alloc _,
                      Stmt.Store _,
                      Stmt.Comment _ ->
                      false;
                });
    return found[0];
  }

  private WarpNode evaluated(Stmt.Evaluate e) {
    WarpNode known = evaluated.get(e);
    if (known == null) {
      known = evaluate(e);
      evaluated.put(e, known);
    }
    return known;
  }

  @Override
  public WarpNode.Straight call(Stmt.Evaluate e) {
    return evaluated(e)::run;
  }

  private IllegalArgumentException refused(Stmt s) {
    return new IllegalArgumentException(
        context.source().name()
            + ": '"
            + context.source().excerpt(s)
            + "' has no place in a grid kernel, lower it first");
  }

  private static WarpNode seq(WarpNode[] nodes) {
    for (WarpNode node : nodes) {
      if (node.stops()) {
        return WarpNode.stopping(
            (warp, mask) ->
                new WarpNode.Activity() {
                  private int next;

                  @Override
                  public void advance(Warp w) {
                    if (next == nodes.length) {
                      w.pop();
                    } else {
                      nodes[next++].enter(w, mask);
                    }
                  }
                });
      }
    }
    return WarpNode.straight(
        (w, mask) -> {
          for (WarpNode node : nodes) {
            node.run(w, mask);
          }
        });
  }

  /** Calls of warp intrinsics, then a straight part, then a body. */
  private static WarpNode before(WarpCalls calls, WarpNode.Straight first, WarpNode body) {
    WarpNode.Straight both =
        (w, mask) -> {
          calls.run(w, mask);
          first.run(w, mask);
        };
    if (!body.stops()) {
      return WarpNode.straight(
          (w, mask) -> {
            both.run(w, mask);
            body.run(w, mask);
          });
    }
    return WarpNode.stopping(
        (warp, mask) ->
            w -> {
              w.pop();
              both.run(w, mask);
              body.enter(w, mask);
            });
  }

  private WarpNode branch(Stmt.If i) {
    WarpCalls calls = new WarpCalls(context, i);
    LongExpr condition = calls.exprs().integer(i.condition());
    WarpNode then = compile(i.then());
    WarpNode otherwise =
        i.otherwise() == null ? WarpNode.straight((w, mask) -> {}) : compile(i.otherwise());
    if (!then.stops() && !otherwise.stops()) {
      return WarpNode.straight(
          (w, mask) -> {
            calls.run(w, mask);
            int yes = w.where(mask, condition);
            if (yes != 0) {
              then.run(w, yes);
            }
            if (yes != mask) {
              otherwise.run(w, mask & ~yes);
            }
          });
    }
    return WarpNode.stopping(
        (warp, mask) ->
            w -> {
              w.pop();
              calls.run(w, mask);
              int yes = w.where(mask, condition);
              int no = mask & ~yes;
              if (no != 0) {
                w.push(
                    later -> {
                      later.pop();
                      otherwise.enter(later, no);
                    });
              }
              if (yes != 0) {
                then.enter(w, yes);
              }
            });
  }

  private WarpNode loop(Stmt.For loop) {
    WarpCalls calls = new WarpCalls(context, loop);
    LongExpr min = calls.exprs().index(loop.min());
    LongExpr extent = calls.exprs().index(loop.extent());
    int slot = context.symbols().slot(loop.var());
    WarpNode body = compile(loop.body());
    if (body.stops()) {
      return WarpNode.stopping(
          (warp, mask) -> {
            calls.run(warp, mask);
            Trips trips = new Trips(warp, mask, min, extent);
            return w -> {
              int active = trips.next(w, mask, slot);
              if (active == 0) {
                w.pop();
              } else {
                body.enter(w, active);
              }
            };
          });
    }
    if (loop.min() instanceof Expr.IntImm(var minType, long from)
        && loop.extent() instanceof Expr.IntImm(var extentType, long count)) {
      long together = context.counts() ? Unrolling.factor(loop, count) : count;
      return WarpNode.straight(
          (w, mask) -> {
            for (long i = from; i < from + count; i++) {
              if (together < count && w.requests != null && (i - from) % together == 0) {
                w.requests.finishRuns();
              }
              for (int m = mask; m != 0; m &= m - 1) {
                w.lanes[Integer.numberOfTrailingZeros(m)].ints[slot] = i;
              }
              body.run(w, mask);
            }
          });
    }
    return WarpNode.straight(
        (w, mask) -> {
          calls.run(w, mask);
          Trips trips = new Trips(w, mask, min, extent);
          for (int active = trips.next(w, mask, slot);
              active != 0;
              active = trips.next(w, mask, slot)) {
            body.run(w, active);
          }
        });
  }

  private WarpNode whileLoop(Stmt.While loop) {
    WarpCalls calls = new WarpCalls(context, loop);
    LongExpr condition = calls.exprs().integer(loop.condition());
    whiles++;
    WarpNode body = compile(loop.body());
    whiles--;
    return WarpNode.stopping(
        (warp, mask) ->
            new WarpNode.Activity() {
              private int active = mask;
              private long rounds;
              private long changes = -1;

              @Override
              public void advance(Warp w) {
                calls.run(w, active);
                active = w.where(active, condition);
                if (active == 0) {
                  w.pop();
                  return;
                }
                if (++rounds > ENDLESS) {
                  throw context.fault(
                      Finding.Kind.DEADLOCK,
                      loop,
                      w.lanes[Integer.numberOfTrailingZeros(active)],
                      "",
                      "the loop went round " + ENDLESS + " times");
                }
                // What the loop waits for may be up to another warp.
                w.yield(w.changes == changes ? loop : null);
                changes = w.changes;
                body.enter(w, active);
              }
            });
  }

  private WarpNode alloc(Stmt.Alloc a) {
    Buffer buffer = a.buffer();
    WarpNode body = compile(a.body());
    return switch (buffer.scope()) {
      case SHARED -> {
        declareShared(buffer);
        yield body;
      }
      case LOCAL -> before(new WarpCalls(context, a), local(buffer), body);
      case GLOBAL, SHARED_CLUSTER, FRAGMENT -> throw refused(a);
    };
  }

  @Override
  public void declareShared(Buffer buffer) {
    if (buffer.scope() == Scope.SHARED) {
      // The slot is needed even if nothing accesses the buffer.
      context.symbols().slot(buffer);
      shared.add(buffer);
    }
  }

  private WarpNode.Straight local(Buffer buffer) {
    Exec each = allocation(buffer);
    return (w, mask) -> w.each(mask, each);
  }

  @Override
  public Exec allocation(Buffer buffer) {
    int slot = context.symbols().slot(buffer);
    int elements = Math.toIntExact(buffer.storageElements());
    long rows = buffer.rank() == 0 ? 1 : buffer.extent(0);
    DType dtype = buffer.dtype();
    return f -> {
      byte[] storage = f.memory[slot];
      if (storage == null) {
        f.outer[slot] = rows;
        storage = new byte[elements * dtype.bytes()];
        f.memory[slot] = storage;
        f.shadows[slot] = context.shadow(buffer, elements, true, false, FindingSink.THROWING);
      } else {
        Shadow shadow = f.shadows[slot];
        if (shadow != null) {
          shadow.reset();
        }
      }
      Bytes.poison(dtype, storage);
    };
  }

  private WarpNode evaluate(Stmt.Evaluate e) {
    WarpCalls calls = new WarpCalls(context, e);
    if (!(e.call().op() instanceof TargetIntrinsic intrinsic)) {
      LongExpr nothing = calls.exprs().bits(e.call());
      return WarpNode.straight((w, mask) -> w.each(mask, nothing::eval));
    }
    return switch (intrinsic.effect()) {
      case TargetIntrinsic.Synchronises(var kind) -> synchronise(e, kind, calls);
      case TargetIntrinsic.Drives drives -> units.compile(e, intrinsic, calls);
      case TargetIntrinsic.Computes computes -> {
        WarpNode.Straight call = calls.call(intrinsic, computes, e.call().args(), (f, bits) -> {});
        yield WarpNode.straight(
            (w, mask) -> {
              w.changes++;
              calls.run(w, mask);
              call.run(w, mask);
              w.finishRequests();
            });
      }
    };
  }

  private WarpNode synchronise(Stmt.Evaluate e, TargetIntrinsic.SyncKind kind, WarpCalls calls) {
    return switch (kind) {
      case BLOCK_BARRIER ->
          WarpNode.stopping(
              (warp, mask) -> {
                requireWhole(warp, mask, e, Finding.Kind.BARRIER);
                return w -> {
                  w.pop();
                  w.changes++;
                  w.waiting = e;
                };
              });
      case WARP_BARRIER ->
          WarpNode.straight(
              (w, mask) -> {
                requireWhole(w, mask, e, Finding.Kind.BARRIER);
                w.actor.meetLanes();
              });
      case ASYNC_COMMIT ->
          WarpNode.straight(
              (w, mask) -> {
                for (int m = mask; m != 0; m &= m - 1) {
                  w.copies[Integer.numberOfTrailingZeros(m)].commit();
                }
              });
      case ASYNC_WAIT -> {
        LongExpr pending = calls.exprs().integer(e.call().args().getFirst());
        yield WarpNode.straight(
            (w, mask) -> {
              for (int m = mask; m != 0; m &= m - 1) {
                int lane = Integer.numberOfTrailingZeros(m);
                w.copies[lane].await(pending.eval(w.lanes[lane]));
              }
            });
      }
    };
  }

  private void requireWhole(Warp w, int mask, Stmt where, Finding.Kind kind) {
    if (mask != w.fullMask()) {
      throw WarpCalls.diverged(context, w, mask, where, kind);
    }
  }
}
