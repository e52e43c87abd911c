package dev.warpwright.sim.interpret;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.sim.expr.CallCompiler;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.DoubleExpr;
import dev.warpwright.sim.expr.Exec;
import dev.warpwright.sim.expr.ExprCompiler;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.expr.MemoryAccess;
import dev.warpwright.sim.finding.FindingSink;
import dev.warpwright.sim.memory.Bytes;
import dev.warpwright.sim.memory.Shadow;
import dev.warpwright.sim.memory.StorageSize;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Compiles statements that one thread executes in order: PrimFuncs, tile programs, host kernels.
 */
public final class StmtCompiler {
  private final Context context;
  private final Manner manner;
  private final FlowCompiler flow;
  private final FlowBarriers barriers;

  /** The tile statement whose expansion is being compiled; messages name it. */
  private @Nullable Stmt origin;

  public StmtCompiler(Context context, Manner manner, Stmt whole) {
    this.context = context;
    this.manner = manner;
    this.flow = new FlowCompiler(this, manner, whole);
    this.barriers = new FlowBarriers(this, manner.late());
  }

  Context context() {
    return context;
  }

  ExprCompiler exprs(Stmt where) {
    return new ExprCompiler(
        context, origin == null ? where : origin, CallCompiler.none(context.source().name()));
  }

  public Exec compile(Stmt s) {
    return switch (s) {
      case Stmt.Flow inner -> flow.compile(inner);
      case Stmt.Seq seq -> seq(seq.stmts().stream().map(this::compile).toArray(Exec[]::new));
      case Stmt.For f -> {
        // What races, or is under way, is accessed whenever the program says.
        boolean each = context.track() && (flow.hasRoles() || manner.late());
        Exec fast = each ? null : ReduceLoop.match(f, this);
        yield fast != null ? fast : loop(f);
      }
      case Stmt.While w -> {
        LongExpr condition = exprs(w).integer(w.condition());
        Exec body = compile(w.body());
        yield f -> {
          while (condition.eval(f) != 0) {
            body.run(f);
          }
        };
      }
      case Stmt.If i -> {
        LongExpr condition = exprs(i).integer(i.condition());
        Exec then = compile(i.then());
        Exec otherwise = i.otherwise() == null ? f -> {} : compile(i.otherwise());
        yield f -> {
          if (condition.eval(f) != 0) {
            then.run(f);
          } else {
            otherwise.run(f);
          }
        };
      }
      case Stmt.Let l -> {
        Exec assign = exprs(l).assign(l.var(), l.value());
        Exec body = compile(l.body());
        yield f -> {
          assign.run(f);
          body.run(f);
        };
      }
      case Stmt.Alloc a -> alloc(a);
      case Stmt.Store st when origin == null -> flow.issued(st, store(st, exprs(st)));
      case Stmt.Store st -> store(st, exprs(st));
      case Stmt.Evaluate e -> {
        Exec barrier = barriers.compile(e);
        if (barrier != null) {
          yield barrier;
        }
        LongExpr call = exprs(e).integer(e.call());
        yield call::eval;
      }
      case Stmt.Comment c -> f -> {};
      case Stmt.Block b -> block(b);
      case Stmt.TileCopy c -> expansion(c, TileExpansion.copy(c));
      case Stmt.TileFill t -> expansion(t, TileExpansion.fill(t));
      case Stmt.TileMma m -> flow.issued(m, new TileMmaCompiler(this, m).compile());
      case Stmt.TileMap m -> expansion(m, TileExpansion.map(m));
      case Stmt.TileReduce r -> expansion(r, TileExpansion.reduce(r));
    };
  }

  Exec expansion(Stmt tile, Stmt meaning) {
    origin = tile;
    Exec compiled = compile(meaning);
    origin = null;
    return flow.issued(tile, compiled);
  }

  private static Exec seq(Exec[] stmts) {
    if (stmts.length == 1) {
      return stmts[0];
    }
    return f -> {
      for (Exec s : stmts) {
        s.run(f);
      }
    };
  }

  private Exec loop(Stmt.For loop) {
    int slot = context.symbols().slot(loop.var());
    ExprCompiler exprs = exprs(loop);
    LongExpr min = exprs.index(loop.min());
    LongExpr extent = exprs.index(loop.extent());
    Exec body = compile(loop.body());
    if (loop.attrs().has("tickets")) {
      return f -> {
        RoleProcess.Shared shared = ((RoleProcess) Objects.requireNonNull(f.process)).shared;
        long first = min.eval(f);
        long n = extent.eval(f);
        for (long i = shared.draw(loop); i < n; i = shared.draw(loop)) {
          f.ints[slot] = first + i;
          body.run(f);
        }
      };
    }
    if (!independent(loop) || manner.order().isForward()) {
      return f -> {
        long first = min.eval(f);
        long n = extent.eval(f);
        for (long i = 0; i < n; i++) {
          f.ints[slot] = first + i;
          body.run(f);
        }
      };
    }
    return f -> {
      long first = min.eval(f);
      int n = Math.toIntExact(Math.max(0, extent.eval(f)));
      for (int i : manner.order().of(n, new SplittableRandom(manner.seed() + n))) {
        f.ints[slot] = first + i;
        body.run(f);
      }
    };
  }

  private static boolean independent(Stmt.For loop) {
    return switch (loop.kind()) {
      // Where iterations wait, it is for earlier ones; and a queue has an order.
      case PARALLEL, THREAD_BOUND, VECTORIZED, PERSISTENT ->
          !loop.attrs().has("wait") && !ordered(loop);
      case SERIAL, UNROLLED, PIPELINED -> false;
    };
  }

  /** Whether iterations hand something on by counters or by pipes from outside. */
  private static boolean ordered(Stmt.For loop) {
    Set<Pipe> inside = new HashSet<>();
    boolean[] found = {false};
    Walk.statements(
        loop.body(),
        s -> {
          switch (s) {
            case Stmt.Flow.PipeScope scope -> inside.add(scope.pipe());
            case Stmt.Flow.Produce p -> found[0] |= !inside.contains(p.pipe());
            case Stmt.Flow.Consume c -> found[0] |= !inside.contains(c.pipe());
            case Stmt.Flow.Skip skip -> found[0] |= !inside.contains(skip.pipe());
            case Stmt.Flow.Await _ -> found[0] = true;
            default -> {}
          }
        });
    return found[0];
  }

  private Exec alloc(Stmt.Alloc a) {
    Buffer buffer = a.buffer();
    int slot = context.symbols().slot(buffer);
    List<Expr> shape = buffer.shape();
    LongExpr outer = shape.isEmpty() ? f -> 1 : exprs(a).index(shape.getFirst());
    DType stored = context.stored(buffer.dtype());
    Exec body = compile(a.body());
    return f -> {
      f.outer[slot] = outer.eval(f);
      long bytes = StorageSize.bytes(buffer, context.shape(buffer, f), stored);
      int elements = (int) (bytes / stored.bytes());
      byte[] storage = f.memory[slot];
      if (storage == null || storage.length != bytes) {
        storage = new byte[(int) bytes];
        f.memory[slot] = storage;
      }
      Bytes.poison(stored, storage);
      if (context.track()) {
        Shadow shadow = context.shadow(buffer, elements, true, false, FindingSink.THROWING);
        if (flow.hasRoles()) {
          shadow.betweenRoles(elements);
        }
        f.shadows[slot] = shadow;
      }
      body.run(f);
    };
  }

  Exec store(Stmt.Store store, ExprCompiler exprs) {
    MemoryAccess access = new MemoryAccess(exprs, store.buffer(), store.indices());
    int lanes = access.lanes();
    int slot = access.slot();
    DType stored = access.stored();
    if (store.buffer().dtype().isFloat()) {
      DoubleExpr value = exprs.real(store.value());
      if (lanes == 1) {
        return access.storeReal(value);
      }
      LongExpr at = access.writeOffset();
      return f -> {
        for (f.lane = 0; f.lane < lanes; f.lane++) {
          f.pendingReals[f.lane] = value.eval(f);
        }
        for (f.lane = 0; f.lane < lanes; f.lane++) {
          int offset = (int) at.eval(f) * stored.bytes();
          Bytes.putReal(stored, f.memory[slot], offset, f.pendingReals[f.lane]);
        }
        f.lane = 0;
      };
    }
    LongExpr value = exprs.integer(store.value());
    if (lanes == 1) {
      return access.storeInteger(value);
    }
    LongExpr at = access.writeOffset();
    return f -> {
      for (f.lane = 0; f.lane < lanes; f.lane++) {
        f.pendingInts[f.lane] = value.eval(f);
      }
      for (f.lane = 0; f.lane < lanes; f.lane++) {
        int offset = (int) at.eval(f) * stored.bytes();
        Bytes.putInteger(stored, f.memory[slot], offset, f.pendingInts[f.lane]);
      }
      f.lane = 0;
    };
  }

  private Exec block(Stmt.Block b) {
    Exec bind = bind(b);
    LongExpr predicate = b.predicate() == null ? null : exprs(b).integer(b.predicate());
    Exec init = b.init() == null ? null : compile(b.init());
    Exec body = compile(b.body());
    int[] reduceSlots = reduceSlots(b);
    return f -> {
      if (predicate != null && predicate.eval(f) == 0) {
        return;
      }
      bind.run(f);
      if (init != null && allZero(f, reduceSlots)) {
        init.run(f);
      }
      body.run(f);
    };
  }

  int[] reduceSlots(Stmt.Block b) {
    return b.iterVars().stream()
        .filter(IterVar::isReduce)
        .mapToInt(v -> context.symbols().slot(v.var()))
        .toArray();
  }

  static boolean allZero(Frame f, int[] slots) {
    for (int slot : slots) {
      if (f.ints[slot] != 0) {
        return false;
      }
    }
    return true;
  }

  /** Sets the iteration variables. */
  Exec bind(Stmt.@Nullable Block b) {
    if (b == null) {
      return f -> {};
    }
    ExprCompiler exprs = exprs(b);
    int n = b.iterVars().size();
    int[] slots = new int[n];
    LongExpr[] values = new LongExpr[n];
    for (int i = 0; i < n; i++) {
      slots[i] = context.symbols().slot(b.iterVars().get(i).var());
      values[i] = exprs.index(b.iterVars().get(i).binding());
    }
    return f -> {
      for (int i = 0; i < n; i++) {
        f.ints[slots[i]] = values[i].eval(f);
      }
    };
  }
}
