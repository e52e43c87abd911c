package dev.warpwright.sim.interpret;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.sim.api.FloatMode;
import dev.warpwright.sim.expr.AffineIndex;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.DoubleExpr;
import dev.warpwright.sim.expr.Exec;
import dev.warpwright.sim.expr.ExprCompiler;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.expr.MemoryAccess;
import dev.warpwright.sim.memory.Bytes;
import dev.warpwright.sim.memory.Shadow;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A fast form of the innermost loop of a reduction: {@code for k: c = combine(c, …k…)} where c does
 * not move. Operands are gathered for a chunk of iterations at a time, with a constant stride where
 * the index is affine, and combined in the same order and with the same rounding as one by one.
 * Where reads of what was never written are errors, operands that may hold such elements are read
 * one by one; the target is read before the loop and written after it.
 */
final class ReduceLoop {
  /** Iterations gathered at a time. */
  private static final int CHUNK = Frame.CHUNK;

  /** Fills {@code out} with the operand's values for {@code count} iterations from {@code from}. */
  private interface Operand {
    void gather(Frame f, long from, int count, double[] out);
  }

  private final Stmt.For loop;
  private final StmtCompiler compiler;
  private final Context context;
  private final Stmt.@Nullable Block block;
  private final Stmt.Store store;
  private final ExprCompiler exprs;
  private final Exec bind;
  private final int slot;

  /** How much each variable that depends on the loop moves in one iteration; null if not evenly. */
  private final Map<Var, @Nullable Long> steps = new IdentityHashMap<>();

  private ReduceLoop(
      Stmt.For loop, StmtCompiler compiler, Stmt.@Nullable Block block, Stmt.Store store) {
    this.loop = loop;
    this.compiler = compiler;
    this.context = compiler.context();
    this.block = block;
    this.store = store;
    this.exprs = compiler.exprs(store);
    this.bind = compiler.bind(block);
    this.slot = context.symbols().slot(loop.var());
    steps.put(loop.var(), 1L);
    if (block != null) {
      for (IterVar v : block.iterVars()) {
        steps.put(v.var(), step(v.binding()));
      }
    }
  }

  /** The fast form, or null where the loop is no such reduction. */
  static @Nullable Exec match(Stmt.For loop, StmtCompiler compiler) {
    Stmt.Block block = loop.body() instanceof Stmt.Block b ? b : null;
    Stmt body = block == null ? loop.body() : block.body();
    if (!(body instanceof Stmt.Store store)
        || !store.value().type().isScalar()
        || !(store.value().type().dtype() == DType.F32 || store.value().type().dtype() == DType.F64)
        || (block != null && block.predicate() != null)) {
      return null;
    }
    return switch (loop.kind()) {
      case SERIAL, UNROLLED, PIPELINED -> new ReduceLoop(loop, compiler, block, store).build();
      case PARALLEL, THREAD_BOUND, PERSISTENT, VECTORIZED -> null;
    };
  }

  /** How much an expression moves in one iteration; null if not evenly. */
  private @Nullable Long step(Expr e) {
    AffineIndex affine = AffineIndex.of(e);
    if (affine == null) {
      return dependsOnLoop(e) ? null : 0L;
    }
    long sum = 0;
    for (Map.Entry<Var, Long> term : affine.terms().entrySet()) {
      if (steps.containsKey(term.getKey())) {
        Long step = steps.get(term.getKey());
        if (step == null) {
          return null;
        }
        sum += step * term.getValue();
      }
    }
    return sum;
  }

  private boolean dependsOnLoop(Expr e) {
    boolean[] found = {false};
    Walk.expressions(
        e,
        part -> {
          if (part instanceof Var v && steps.containsKey(v)) {
            Long step = steps.get(v);
            found[0] |= step == null || step != 0;
          }
        });
    return found[0];
  }

  private @Nullable Exec build() {
    if (!store.indices().stream().allMatch(i -> isStep(step(i), 0)) || readsTargetElsewhere()) {
      return null;
    }
    if (block != null && block.init() != null && !someReduceVariableMoves(block)) {
      return null;
    }
    Expr value = store.value();
    Expr.Load target = new Expr.Load(store.buffer(), store.indices());
    boolean single = value.type().dtype() == DType.F32 && context.precision() == FloatMode.EXACT;
    return switch (value) {
      case Expr.Call(MathOp op, List<Expr> args, var type)
          when op == MathOp.FMA && args.get(2).equals(target) ->
          fma(operand(args.get(0)), operand(args.get(1)), single);
      case Expr.Binary(BinaryOp op, Expr a, Expr b)
          when (op == BinaryOp.ADD || op == BinaryOp.MAX) && a.equals(target) ->
          combine(op, operand(b), single);
      case Expr.Binary(BinaryOp op, Expr a, Expr b)
          when (op == BinaryOp.ADD || op == BinaryOp.MAX) && b.equals(target) ->
          combine(op, operand(a), single);
      default -> null;
    };
  }

  private static boolean isStep(@Nullable Long step, long expected) {
    return step != null && step == expected;
  }

  /** The target may be read once only, as the accumulator. */
  private boolean readsTargetElsewhere() {
    int[] reads = {0};
    Walk.expressions(
        store.value(),
        e -> {
          if (e instanceof Expr.Load l && l.buffer() == store.buffer()) {
            reads[0]++;
          }
        });
    return reads[0] != 1;
  }

  /** Then only the first iteration can be the first reduction instance. */
  private boolean someReduceVariableMoves(Stmt.Block b) {
    for (IterVar v : b.iterVars()) {
      Long step = steps.get(v.var());
      if (v.isReduce() && step != null && step != 0) {
        return true;
      }
    }
    return false;
  }

  private Operand operand(Expr e) {
    return switch (e) {
      case Expr.Load l when evenly(l) -> strided(l);
      case Expr.Cast(var type, Expr a) when widens(type.dtype(), a.type().dtype()) -> operand(a);
      case Expr.Binary(BinaryOp op, Expr a, Expr b) when op == BinaryOp.MUL -> product(e, a, b);
      default -> oneByOne(e);
    };
  }

  private static boolean widens(DType to, DType from) {
    return from.isFloat() && (to == DType.F64 || (to == DType.F32 && from != DType.F64));
  }

  private boolean evenly(Expr.Load l) {
    return l.type().isScalar()
        && MemoryAccess.linearStrides(l.buffer()) != null
        && l.indices().stream().allMatch(i -> step(i) != null);
  }

  private void goTo(Frame f, long iteration) {
    f.ints[slot] = iteration;
    bind.run(f);
  }

  private Operand oneByOne(Expr e) {
    DoubleExpr value = exprs.real(e);
    return (f, from, count, out) -> {
      for (int i = 0; i < count; i++) {
        goTo(f, from + i);
        out[i] = value.eval(f);
      }
    };
  }

  private Operand product(Expr product, Expr a, Expr b) {
    Operand x = operand(a);
    Operand y = operand(b);
    int scratch = context.symbols().newScratch();
    boolean single = product.type().dtype() == DType.F32 && context.precision() == FloatMode.EXACT;
    return (f, from, count, out) -> {
      double[] other = f.scratch[scratch];
      x.gather(f, from, count, out);
      y.gather(f, from, count, other);
      for (int i = 0; i < count; i++) {
        double p = out[i] * other[i];
        out[i] = single ? (float) p : p;
      }
    };
  }

  private Operand strided(Expr.Load l) {
    MemoryAccess access = new MemoryAccess(exprs, l.buffer(), l.indices());
    LongExpr offset = access.offset();
    int memory = access.slot();
    DType stored = access.stored();
    int bytes = stored.bytes();
    Operand tracked = context.track() ? oneByOne(l) : null;
    return (f, from, count, out) -> {
      if (tracked != null && f.shadows[memory] != null) {
        tracked.gather(f, from, count, out);
        return;
      }
      goTo(f, from);
      long first = offset.eval(f);
      goTo(f, from + count - 1);
      // Both ends are in bounds, so everything between is.
      long last = offset.eval(f);
      int at = (int) first * bytes;
      int step = count == 1 ? 0 : (int) ((last - first) / (count - 1)) * bytes;
      byte[] b = f.memory[memory];
      switch (stored) {
        case F32 -> {
          for (int i = 0; i < count; i++) {
            out[i] = Bytes.getFloat(b, at + i * step);
          }
        }
        case F64 -> {
          for (int i = 0; i < count; i++) {
            out[i] = Bytes.getDouble(b, at + i * step);
          }
        }
        default -> {
          for (int i = 0; i < count; i++) {
            out[i] = Bytes.real(stored, b, at + i * step);
          }
        }
      }
    };
  }

  /** Combines a chunk of gathered operands into the accumulator. */
  private interface Combine {
    double apply(double accumulator, double[] x, double[] y, int count);
  }

  private Exec fma(Operand x, Operand y, boolean single) {
    return loop(
        x,
        y,
        single
            ? (acc, a, b, n) -> {
              float sum = (float) acc;
              for (int i = 0; i < n; i++) {
                sum = Math.fma((float) a[i], (float) b[i], sum);
              }
              return sum;
            }
            : (acc, a, b, n) -> {
              double sum = acc;
              for (int i = 0; i < n; i++) {
                sum = Math.fma(a[i], b[i], sum);
              }
              return sum;
            });
  }

  private Exec combine(BinaryOp op, Operand x, boolean single) {
    Operand nothing = (f, from, count, out) -> {};
    if (op == BinaryOp.MAX) {
      return loop(
          x,
          nothing,
          (acc, a, b, n) -> {
            double max = acc;
            for (int i = 0; i < n; i++) {
              max = ExprCompiler.max(max, a[i]);
            }
            return max;
          });
    }
    return loop(
        x,
        nothing,
        single
            ? (acc, a, b, n) -> {
              float sum = (float) acc;
              for (int i = 0; i < n; i++) {
                sum += (float) a[i];
              }
              return sum;
            }
            : (acc, a, b, n) -> {
              double sum = acc;
              for (int i = 0; i < n; i++) {
                sum += a[i];
              }
              return sum;
            });
  }

  private Exec loop(Operand x, Operand y, Combine combine) {
    ExprCompiler around = compiler.exprs(loop);
    LongExpr min = around.index(loop.min());
    LongExpr extent = around.index(loop.extent());
    Stmt init = block == null ? null : block.init();
    Exec start = init == null ? f -> {} : compiler.compile(init);
    int[] reduceSlots = block == null ? new int[0] : compiler.reduceSlots(block);
    MemoryAccess target = new MemoryAccess(exprs, store.buffer(), store.indices());
    LongExpr offset = target.offset();
    int memory = target.slot();
    DType stored = target.stored();
    int xs = context.symbols().newScratch();
    int ys = context.symbols().newScratch();
    return f -> {
      long first = min.eval(f);
      long n = extent.eval(f);
      if (n <= 0) {
        return;
      }
      goTo(f, first);
      if (StmtCompiler.allZero(f, reduceSlots)) {
        start.run(f);
      }
      int element = (int) offset.eval(f);
      int at = element * stored.bytes();
      byte[] b = f.memory[memory];
      Shadow shadow = f.shadows[memory];
      if (shadow != null) {
        shadow.read(f, element, exprs.where());
      }
      double acc = Bytes.real(stored, b, at);
      for (long done = 0; done < n; done += CHUNK) {
        int count = (int) Math.min(CHUNK, n - done);
        x.gather(f, first + done, count, f.scratch[xs]);
        y.gather(f, first + done, count, f.scratch[ys]);
        acc = combine.apply(acc, f.scratch[xs], f.scratch[ys], count);
      }
      Bytes.putReal(stored, b, at, acc);
      if (shadow != null) {
        shadow.write(f, element, exprs.where());
      }
    };
  }
}
