package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.order.BlockOrder.Grouped;
import dev.warpwright.ir.order.Combine;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Samples;
import dev.warpwright.schedule.Schedule;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** For each primitive a small function, and steps that end with it. */
final class PrimitiveCases {
  /**
   * A primitive at work.
   *
   * @param func what is scheduled
   * @param steps those that prepare it; they return the primitive itself, still to be run
   */
  record Case(PrimFunc func, Function<Schedule, Runnable> steps) {}

  private final Map<String, Case> cases = new TreeMap<>();

  private PrimitiveCases() {
    loops();
    placement();
    reductions();
    buffers();
    tiles();
    choices();
  }

  /** The cases by names of methods of {@link Schedule}: all primitives, and other forms of some. */
  static Map<String, Case> all() {
    return new PrimitiveCases().cases;
  }

  private void matmul(String name, Function<Schedule, Runnable> steps) {
    cases.put(name, new Case(Samples.matmul(4, 6, 8), steps));
  }

  private void chain(String name, Function<Schedule, Runnable> steps) {
    cases.put(name, new Case(Samples.chain(4, 6), steps));
  }

  /** A way to pad a product of 3 × 4 × 5. */
  private interface Padding {
    void apply(Schedule s, BlockRef block, List<Long> multiples);
  }

  private void padded(String name, Padding padding) {
    cases.put(
        name,
        new Case(
            Samples.matmul(3, 4, 5),
            s -> {
              BlockRef c = s.block("c");
              s.cacheRead(s.buffer("a"), Scope.SHARED, c);
              s.cacheRead(s.buffer("b"), Scope.SHARED, c);
              s.cacheWrite(c, Scope.LOCAL);
              return () -> padding.apply(s, c, List.of(2L, 4L, 4L));
            }));
  }

  private static LoopRef loop(Schedule s, String block, int depth) {
    return s.loops(s.block(block)).get(depth);
  }

  private void loops() {
    matmul(
        "split",
        s -> {
          LoopRef columns = loop(s, "c", 1);
          return () -> s.split(columns, 4);
        });
    matmul("fuse", s -> () -> s.fuse(loop(s, "c", 0), loop(s, "c", 1)));
    cases.put(
        "merge",
        new Case(Samples.twoResults(4, 6), s -> () -> s.merge(loop(s, "y", 0), loop(s, "z", 0))));
    matmul("reorder", s -> () -> s.reorder(loop(s, "c", 2), loop(s, "c", 0)));
    matmul("bind", s -> () -> s.bind(loop(s, "c", 0), ThreadAxis.BLOCK_X));
    chain("parallel", s -> () -> s.parallel(loop(s, "h", 0)));
    chain("vectorize", s -> () -> s.vectorize(loop(s, "y", 1)));
    matmul("unroll", s -> () -> s.unroll(loop(s, "c", 2)));
    matmul("pipeline", s -> () -> s.pipeline(loop(s, "c", 2), 3));
    matmul(
        "annotate",
        s ->
            () -> {
              s.annotate(loop(s, "c", 1), "note", "columns");
              s.annotate(s.block("c"), "vec", 2L);
              s.annotate("threads", 64L);
            });
  }

  private void placement() {
    chain("computeAt", s -> () -> s.computeAt(s.block("h"), loop(s, "y", 0)));
    chain("reverseComputeAt", s -> () -> s.reverseComputeAt(s.block("y"), loop(s, "h", 0)));
    chain("computeInline", s -> () -> s.computeInline(s.block("h")));
    chain("reverseComputeInline", s -> () -> s.reverseComputeInline(s.block("y")));
  }

  private void reductions() {
    matmul("decomposeReduction", s -> () -> s.decomposeReduction(s.block("c"), loop(s, "c", 1)));
    matmul(
        "rfactor",
        s -> {
          LoopRef part = s.split(loop(s, "c", 2), 2).outer();
          return () -> s.rfactor(s.block("c"), part, 0);
        });
    matmul("splitK", s -> () -> s.splitK(s.block("c"), 2, Combine.WORKSPACE));
    matmul(
        "streamK",
        s -> {
          LoopRef rows = s.split(loop(s, "c", 0), 2).outer();
          LoopRef steps = s.split(loop(s, "c", 3), 4).outer();
          s.reorder(rows, steps, loop(s, "c", 1), loop(s, "c", 2));
          return () -> s.streamK(rows, steps, 3);
        });
  }

  private void buffers() {
    chain("cacheRead", s -> () -> s.cacheRead(s.buffer("x"), Scope.SHARED, s.block("h")));
    chain("cacheWrite", s -> () -> s.cacheWrite(s.block("y"), Scope.LOCAL));
    chain("setScope", s -> () -> s.setScope(s.buffer("h"), Scope.SHARED));
    chain("storageAlign", s -> () -> s.storageAlign(s.buffer("h"), 0, 8, 1));
    chain(
        "setLayout",
        s ->
            () -> s.setLayout(s.buffer("h"), Layout.strided(new long[] {4, 6}, new long[] {1, 4})));
    chain("transformLayout", s -> () -> s.transformLayout(s.buffer("h"), 1, 0));
    chain(
        "compact",
        s -> {
          s.computeAt(s.block("h"), s.split(loop(s, "y", 0), 2).outer());
          return () -> s.compact(s.buffer("h"));
        });
    cases.put(
        "squeeze",
        new Case(
            SqueezeTest.matrices(),
            s -> {
              s.computeAt(s.block("h"), loop(s, "y", 0));
              s.compactAll();
              return s::squeeze;
            }));
    padded("pad", Schedule::pad);
    padded("padRepeating", Schedule::padRepeating);
  }

  private void tiles() {
    matmul(
        "blockize",
        s -> {
          LoopRef rows = s.split(loop(s, "c", 0), 2).inner();
          return () -> s.blockize(rows);
        });
    matmul(
        "tensorize",
        s -> {
          LoopRef rows = s.split(loop(s, "c", 0), 2).outer();
          return () -> s.tensorize(s.block("c"), rows, Attrs.NONE.with("instr", "fma"));
        });
    matmul("blockOrder", s -> () -> s.blockOrder(loop(s, "c", 0), loop(s, "c", 1), new Grouped(2)));
    chain("persistent", s -> () -> s.persistent(loop(s, "y", 0), 3));
    chain(
        "mergeGrids",
        s ->
            () ->
                s.mergeGrids(
                    loop(s, "h", 0), loop(s, "y", 0), WorkOrder.SEQUENCE, WaitPolicy.TILE));
    matmul(
        "cluster",
        s -> {
          s.bind(loop(s, "c", 0), ThreadAxis.BLOCK_X);
          return () -> s.cluster(2, 1);
        });
    matmul(
        "multicast",
        s -> {
          BlockRef b = s.cacheRead(s.buffer("b"), Scope.SHARED, s.block("c"));
          List<LoopRef> c = s.loops(s.block("c"));
          s.computeAt(b, c.get(1));
          s.compactAll();
          s.bind(c.get(0), ThreadAxis.BLOCK_Y);
          s.bind(c.get(1), ThreadAxis.BLOCK_X);
          s.cluster(2, 1);
          return () -> s.multicast(b);
        });
    matmul(
        "roles",
        s -> {
          s.pipeline(loop(s, "c", 2), 2);
          return () -> s.roles(1, 2);
        });
  }

  /** A choice changes nothing until it is used. */
  private void choices() {
    matmul(
        "samplePerfectTile",
        s -> {
          LoopRef steps = loop(s, "c", 2);
          return () -> s.split(steps, s.samplePerfectTile(steps, 2, 4).getLast());
        });
    matmul(
        "sampleCategorical",
        s -> {
          LoopRef steps = loop(s, "c", 2);
          return () ->
              s.pipeline(steps, s.sampleCategorical(List.of(2L, 3L, 4L), List.of(1L, 1L, 1L)));
        });
  }
}
