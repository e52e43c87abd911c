package dev.warpwright.perf;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.arith.Interval;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.ir.visit.Walk;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a tile program moves and computes, counted from its statements.
 *
 * @param compulsoryBytes every global buffer that is touched, once, or as much of it as is: what
 *     must cross the memory bus at least
 * @param tileBytes bytes that tile statements move between global memory and the chip's cores,
 *     repeats included; where buffers fit into L2, that cache serves the difference
 * @param multiplyAdds of tile statements and of threads that sum products, padding included
 * @param blocks iterations of the loops bound to block indices or run in parallel
 */
public record TileTraffic(long compulsoryBytes, long tileBytes, long multiplyAdds, long blocks) {

  /**
   * Counts.
   *
   * @param scalars the values of the program's scalar parameters
   */
  public static TileTraffic of(PrimFunc program, Map<Var, Long> scalars) {
    Counter counter = new Counter(scalars);
    counter.visit(program.body(), 1);
    long compulsory = 0;
    for (Map.Entry<Buffer, Long> moved : counter.moved.entrySet()) {
      compulsory += Math.min(bytes(moved.getKey(), scalars), moved.getValue());
    }
    return new TileTraffic(compulsory, counter.tileBytes, counter.multiplyAdds, counter.blocks);
  }

  /** Size of a buffer. */
  public static long bytes(Buffer buffer, Map<Var, Long> scalars) {
    long count = buffer.dtype().bytes();
    for (Expr extent : buffer.shape()) {
      count = Math.multiplyExact(count, ScalarEval.eval(extent, scalars));
    }
    return count;
  }

  private static final class Counter {
    private final Map<Var, Long> scalars;
    private final Map<Buffer, Long> moved = new LinkedHashMap<>();
    private long tileBytes;
    private long multiplyAdds;
    private long blocks = 1;
    private Bounds bounds = Bounds.NONE;

    Counter(Map<Var, Long> scalars) {
      this.scalars = new HashMap<>(scalars);
      scalars.forEach((v, value) -> bounds = bounds.with(v, Interval.of(value)));
    }

    void visit(Stmt s, long times) {
      switch (s) {
        case Stmt.Seq(List<Stmt> stmts) -> stmts.forEach(inner -> visit(inner, times));
        case Stmt.For loop -> {
          long extent = most(loop.extent());
          Bounds outside = bounds;
          bounds = bounds.withRange(loop.var(), loop.min(), loop.extent());
          switch (loop.kind()) {
            case THREAD_BOUND, PARALLEL -> blocks *= extent;
            case SERIAL, UNROLLED, VECTORIZED, PIPELINED, PERSISTENT -> {}
          }
          visit(loop.body(), times * extent);
          bounds = outside;
        }
        case Stmt.Alloc alloc -> visit(alloc.body(), times);
        case Stmt.Let let -> {
          Bounds outside = bounds;
          bounds = bounds.withValue(let.var(), let.value());
          visit(let.body(), times);
          bounds = outside;
        }
        case Stmt.If branch -> {
          visit(branch.then(), times);
          if (branch.otherwise() != null) {
            visit(branch.otherwise(), times);
          }
        }
        case Stmt.While loop -> visit(loop.body(), times);
        case Stmt.TileCopy(Region to, Region from, var attrs) -> {
          moved(to, times);
          moved(from, times);
        }
        case Stmt.TileFill fill -> moved(fill.to(), times);
        case Stmt.TileMma mma -> {
          long rows = elements(mma.c().tile().subList(0, 1));
          multiplyAdds += times * rows * elements(mma.b().tile());
          moved(mma.a(), times);
          moved(mma.b(), times);
        }
        case Stmt.TileMap map -> each(map, times * extents(map.extents()));
        case Stmt.TileReduce reduce ->
            each(reduce, times * extents(reduce.extents()) * extents(reduce.reduceExtents()));
        case Stmt.Store store -> each(store, times);
        case Stmt.Evaluate evaluate -> each(evaluate, times);
        case Stmt.Block block -> each(block, times);
        case Stmt.Comment comment -> {}
        case Stmt.Flow.PipeScope pipe -> visit(pipe.body(), times);
        case Stmt.Flow.Produce produce -> visit(produce.body(), times);
        case Stmt.Flow.Consume consume -> visit(consume.body(), times);
        case Stmt.Flow.Combine combine -> visit(combine.body(), times);
        case Stmt.Flow.Roles roles ->
            roles.roles().forEach(role -> visit(role.body(), times * role.instances()));
        case Stmt.Flow.Skip _, Stmt.Flow.Signal _, Stmt.Flow.Await _ -> {}
        case Stmt.Flow.AwaitPrevious _, Stmt.Flow.SignalNext _ -> {}
      }
    }

    /**
     * How often a loop runs; at most, where that differs from block to block.
     *
     * @throws IllegalArgumentException if it depends on what lies in memory
     */
    private long most(Expr extent) {
      boolean[] differs = {false};
      Walk.expressions(extent, e -> differs[0] |= e instanceof Var v && !scalars.containsKey(v));
      long most = bounds.of(extent).max();
      return differs[0] && most < Integer.MAX_VALUE
          ? Math.max(0, most)
          : ScalarEval.eval(extent, scalars);
    }

    /** Loads and stores of single elements of global buffers. */
    private void each(Stmt leaf, long times) {
      Walk.all(
          leaf,
          s -> {
            if (s instanceof Stmt.Store store) {
              count(store.buffer(), times);
              multiplyAdds += isMultiplyAdd(store) ? times : 0;
            }
          },
          e -> {
            if (e instanceof Expr.Load load) {
              count(load.buffer(), times);
            }
          });
    }

    /** Whether something is multiplied and added to what was there, as threads do one by one. */
    private static boolean isMultiplyAdd(Stmt.Store store) {
      return store.value() instanceof Expr.Call(MathOp op, List<Expr> args, Type _)
          && op == MathOp.FMA
          && args.getLast() instanceof Expr.Load sum
          && sum.buffer() == store.buffer();
    }

    private void moved(Region region, long times) {
      count(region.buffer(), times * elements(region.ranges()));
    }

    private void count(Buffer buffer, long elements) {
      if (buffer.scope() == Scope.GLOBAL) {
        moved.merge(buffer, elements * buffer.dtype().bytes(), Long::sum);
        tileBytes += elements * buffer.dtype().bytes();
      }
    }

    private long elements(List<Range> ranges) {
      return extents(ranges.stream().map(Range::extent).toList());
    }

    private long extents(List<Expr> extents) {
      long product = 1;
      for (Expr extent : extents) {
        product *= ScalarEval.eval(extent, scalars);
      }
      return product;
    }
  }
}
