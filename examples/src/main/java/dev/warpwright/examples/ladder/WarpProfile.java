package dev.warpwright.examples.ladder;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What one warp of a grid kernel issues, counted from its statements: loops by their trips,
 * addresses from those of the first warp of the first block in the first iteration, which is what
 * the others' look like in kernels of regular tiles. Nothing is said about caches.
 *
 * @param multiplyAdds instructions of fused multiply-add
 * @param memoryInstructions loads, stores and asynchronous copies, of shared and global memory
 * @param wavefronts rounds that shared memory needs; each serves 128 bytes
 * @param idealWavefronts rounds without bank conflicts
 * @param lines of 128 bytes of global memory that each instruction touches
 * @param bytes of global memory that each instruction of a whole block touches, divided by its
 *     warps: what is left if an L1 serves all that warps have in common
 * @param barriers of the block
 * @param waits barriers that come right after loads from global memory, whose whole latency is seen
 */
public record WarpProfile(
    double multiplyAdds,
    double memoryInstructions,
    double wavefronts,
    double idealWavefronts,
    double lines,
    double bytes,
    double barriers,
    double waits) {
  private static final int LANES = 32;
  private static final int BANKS = 32;
  private static final int LINE = 128;

  /** Rounds of shared memory spent on conflicts, as a part of those needed without. */
  public double conflicts() {
    return idealWavefronts == 0 ? 0 : wavefronts / idealWavefronts - 1;
  }

  /**
   * Counts.
   *
   * @throws IllegalArgumentException if an extent or an address depends on data or on scalars
   */
  public static WarpProfile of(Kernel kernel) {
    Counter counter = new Counter(kernel);
    counter.visit(kernel.body(), 1, counter.all());
    return new WarpProfile(
        counter.multiplyAdds,
        counter.memoryInstructions,
        counter.wavefronts,
        counter.idealWavefronts,
        counter.lines,
        counter.bytes,
        counter.barriers,
        counter.waits);
  }

  private static final class Counter {
    /** The values of the variables in each thread of the block, the first warp's first. */
    private final List<Map<Var, Long>> lanes = new ArrayList<>();

    private final int threads;
    private double multiplyAdds;
    private double memoryInstructions;
    private double wavefronts;
    private double idealWavefronts;
    private double lines;
    private double bytes;
    private double barriers;
    private double waits;

    /** Whether the last thing that happened to memory was a load of global memory to shared. */
    private boolean loading;

    Counter(Kernel kernel) {
      long x = extent(kernel, ThreadAxis.THREAD_X);
      long y = extent(kernel, ThreadAxis.THREAD_Y);
      threads = Math.max(LANES, kernel.threadsPerBlock());
      for (long thread = 0; thread < threads; thread++) {
        Map<Var, Long> values = new HashMap<>();
        kernel.bindings().forEach(b -> values.put(b.var(), 0L));
        put(kernel, values, ThreadAxis.THREAD_X, thread % x);
        put(kernel, values, ThreadAxis.THREAD_Y, thread / x % y);
        put(kernel, values, ThreadAxis.THREAD_Z, thread / x / y);
        lanes.add(values);
      }
    }

    private static long extent(Kernel kernel, ThreadAxis axis) {
      return ScalarEval.eval(kernel.extent(axis), Map.of());
    }

    private static void put(Kernel kernel, Map<Var, Long> values, ThreadAxis axis, long value) {
      kernel.binding(axis).ifPresent(b -> values.put(b.var(), value));
    }

    boolean[] all() {
      boolean[] active = new boolean[threads];
      Arrays.fill(active, true);
      return active;
    }

    void visit(Stmt s, double times, boolean[] active) {
      switch (s) {
        case Stmt.Seq(List<Stmt> stmts) -> stmts.forEach(inner -> visit(inner, times, active));
        case Stmt.Alloc alloc -> visit(alloc.body(), times, active);
        case Stmt.For loop -> {
          long extent = ScalarEval.eval(loop.extent(), lanes.getFirst());
          long min = ScalarEval.eval(loop.min(), lanes.getFirst());
          lanes.forEach(values -> values.put(loop.var(), min));
          visit(loop.body(), times * extent, active);
        }
        case Stmt.Let let -> {
          for (Map<Var, Long> values : lanes) {
            if (let.value().type().dtype().isInt()) {
              values.put(let.var(), ScalarEval.eval(let.value(), values));
            }
          }
          expression(let.value(), times, active);
          visit(let.body(), times, active);
        }
        case Stmt.If branch -> {
          boolean[] then = holds(branch.condition(), active);
          visit(branch.then(), times, then);
          if (branch.otherwise() != null) {
            boolean[] otherwise = new boolean[threads];
            for (int lane = 0; lane < threads; lane++) {
              otherwise[lane] = active[lane] && !then[lane];
            }
            visit(branch.otherwise(), times, otherwise);
          }
        }
        case Stmt.Store store -> {
          expression(store.value(), times, active);
          access(store.buffer(), store.indices(), times, active);
          loading |= store.buffer().scope() == Scope.SHARED && loadsGlobal(store.value());
        }
        case Stmt.Evaluate evaluate -> call(evaluate.call(), times, active);
        case Stmt.While loop -> visit(loop.body(), times, active);
        case Stmt.Comment _, Stmt.Block _ -> {}
        case Stmt.TileCopy _, Stmt.TileFill _, Stmt.TileMma _ -> throw tile();
        case Stmt.TileMap _, Stmt.TileReduce _, Stmt.Flow _ -> throw tile();
      }
    }

    private static boolean loadsGlobal(Expr value) {
      boolean[] found = {false};
      Walk.expressions(
          value,
          e -> found[0] |= e instanceof Expr.Load load && load.buffer().scope() == Scope.GLOBAL);
      return found[0];
    }

    private static IllegalArgumentException tile() {
      return new IllegalArgumentException("a tile statement in a kernel");
    }

    private boolean[] holds(Expr condition, boolean[] active) {
      boolean[] result = new boolean[threads];
      for (int lane = 0; lane < threads; lane++) {
        result[lane] = active[lane] && ScalarEval.eval(condition, lanes.get(lane)) != 0;
      }
      return result;
    }

    private void call(Expr.Call call, double times, boolean[] active) {
      if (call.op() instanceof Intrinsic intrinsic
          && intrinsic.isBarrier()
          && intrinsic.collective() == Intrinsic.Collective.BLOCK) {
        barriers += times;
        waits += loading ? times : 0;
        loading = false;
      }
      for (int i = 0; i < call.args().size(); i++) {
        if (call.args().get(i) instanceof Expr.AddressOf(Buffer buffer, List<Expr> indices)
            && call.op() instanceof Intrinsic intrinsic) {
          Intrinsic.Operand operand = intrinsic.operands().get(i);
          int elements =
              operand.dtype() == null
                  ? operand.elements() / buffer.dtype().bytes()
                  : operand.elements();
          access(buffer, ramp(indices, elements), times, active);
        }
      }
    }

    private static List<Expr> ramp(List<Expr> indices, int elements) {
      if (elements < 2) {
        return indices;
      }
      List<Expr> all = new ArrayList<>(indices);
      all.set(all.size() - 1, new Expr.Ramp(all.getLast(), 1, elements));
      return all;
    }

    private void expression(Expr e, double times, boolean[] active) {
      switch (e) {
        case Expr.Load load -> access(load.buffer(), load.indices(), times, active);
        case Expr.Call(var op, List<Expr> args, Type type) -> {
          if (op == MathOp.FMA && type.dtype() == DType.F32) {
            multiplyAdds += times * type.lanes();
          }
          args.forEach(arg -> expression(arg, times, active));
        }
        case Expr.Select(Expr condition, Expr then, Expr otherwise) -> {
          Expr uniform = condition instanceof Expr.Broadcast(Expr value, int n) ? value : condition;
          expression(then, times, holds(uniform, active));
          expression(otherwise, times, active);
        }
        case Expr.Binary binary -> {
          expression(binary.a(), times, active);
          expression(binary.b(), times, active);
        }
        case Expr.Unary unary -> expression(unary.a(), times, active);
        case Expr.Cast cast -> expression(cast.a(), times, active);
        case Expr.Bitcast cast -> expression(cast.a(), times, active);
        case Expr.Broadcast broadcast -> expression(broadcast.value(), times, active);
        case Var _, Expr.IntImm _, Expr.FloatImm _, Expr.AddressOf _, Expr.Ramp _ -> {}
      }
    }

    private void access(Buffer buffer, List<Expr> indices, double times, boolean[] active) {
      if (buffer.scope() == Scope.LOCAL) {
        return;
      }
      int width = indices.isEmpty() ? 1 : indices.getLast().type().lanes();
      int size = width * buffer.dtype().bytes();
      long[] all = new long[threads];
      for (int lane = 0; lane < threads; lane++) {
        all[lane] = active[lane] ? address(buffer, indices, lanes.get(lane)) : -1;
      }
      long[] first = Arrays.copyOf(all, LANES);
      if (Arrays.stream(first).allMatch(address -> address < 0)) {
        return;
      }
      memoryInstructions += times;
      if (buffer.scope() == Scope.SHARED) {
        wavefronts += times * wavefronts(first, size);
        idealWavefronts += times * Math.max(1, size / 4);
      } else {
        Set<Long> touched = new HashSet<>();
        for (long address : first) {
          for (long b = 0; address >= 0 && b < size; b += LINE) {
            touched.add((address + b) / LINE);
          }
          if (address >= 0) {
            touched.add((address + size - 1) / LINE);
          }
        }
        lines += times * touched.size();
        long distinct = Arrays.stream(all).filter(address -> address >= 0).distinct().count();
        bytes += times * distinct * size / Math.ceilDiv(threads, LANES);
      }
    }

    /** Lanes together that one round may serve: all, halves or quarters of a warp. */
    private static double wavefronts(long[] first, int size) {
      int together = size <= 4 ? LANES : size <= 8 ? LANES / 2 : LANES / 4;
      double rounds = 0;
      for (int group = 0; group < LANES; group += together) {
        Map<Long, Set<Long>> words = new TreeMap<>();
        for (int lane = group; lane < group + together; lane++) {
          for (long b = 0; first[lane] >= 0 && b < size; b += 4) {
            long word = (first[lane] + b) / 4;
            words.computeIfAbsent(word % BANKS, bank -> new HashSet<>()).add(word);
          }
        }
        rounds += words.values().stream().mapToInt(Set::size).max().orElse(0);
      }
      return rounds;
    }

    private static long address(Buffer buffer, List<Expr> indices, Map<Var, Long> values) {
      long[] at = new long[indices.size()];
      long[] shape = new long[indices.size()];
      for (int d = 0; d < at.length; d++) {
        Expr index =
            indices.get(d) instanceof Expr.Ramp(Expr base, long s, int n) ? base : indices.get(d);
        at[d] = ScalarEval.eval(index, values);
        shape[d] = buffer.shape().get(d) instanceof Expr.IntImm imm ? imm.value() : 1;
      }
      Layout layout = buffer.layout() == null ? Layout.rowMajor(shape) : buffer.layout();
      return layout.offset(at) * buffer.dtype().bytes();
    }
  }
}
