package dev.warpwright.schedule;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.Combine;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.schedule.analysis.Tree;
import dev.warpwright.schedule.error.ScheduleError;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Primitives with random arguments. */
final class RandomSteps {
  private static final List<BlockOrder> ORDERS =
      List.of(new BlockOrder.Row(), new BlockOrder.Grouped(2), new BlockOrder.Hilbert());

  private RandomSteps() {}

  /** Tries one primitive, which may refuse. */
  static void next(Schedule s, SplittableRandom random) {
    List<BlockRef> blocks = s.blocks();
    if (blocks.isEmpty()) {
      return;
    }
    BlockRef block = pick(blocks, random);
    List<LoopRef> loops = s.loops(block);
    List<LoopRef> others = s.loops(pick(blocks, random));
    if (loops.isEmpty() || others.isEmpty()) {
      return;
    }
    try {
      switch (random.nextInt(6)) {
        case 0, 1 -> loopStep(s, loops, others, random);
        case 2, 3 -> placeStep(s, block, loops, others, random);
        case 4 -> bufferStep(s, block, random);
        default -> tileStep(s, block, loops, others, random);
      }
    } catch (ScheduleError refused) {
      // Most are; that the function is as before is asserted by the tests of each primitive.
    }
  }

  private static void loopStep(
      Schedule s, List<LoopRef> loops, List<LoopRef> others, SplittableRandom random) {
    LoopRef loop = pick(loops, random);
    switch (random.nextInt(16)) {
      case 0, 1, 2 -> s.split(loop, random.nextInt(1, 6));
      case 3 -> s.fuse(loop, pick(loops, random));
      case 14 -> s.merge(loop, pick(others, random));
      case 4, 5, 6 -> s.reorder(loop, pick(loops, random));
      case 7 -> s.parallel(loop);
      case 8 -> s.vectorize(loop);
      case 9 -> s.unroll(loop);
      case 10 -> s.bind(loop, pick(List.of(ThreadAxis.values()), random));
      case 11 -> s.pipeline(loop, random.nextInt(1, 4));
      case 12 -> s.annotate(loop, "note", "any " + random.nextLong(3));
      case 13 -> s.split(loop, s.samplePerfectTile(loop, 2, 4).getLast());
      default -> s.split(loop, s.sampleCategorical(List.of(2L, 3L), List.of(1L, 1L)));
    }
  }

  private static void placeStep(
      Schedule s,
      BlockRef block,
      List<LoopRef> loops,
      List<LoopRef> others,
      SplittableRandom random) {
    LoopRef loop = pick(loops, random);
    switch (random.nextInt(14)) {
      case 0, 1, 2, 3 -> s.computeAt(block, pick(others, random));
      case 4, 5, 6 -> s.reverseComputeAt(block, pick(others, random));
      case 7 -> s.computeInline(block);
      case 8 -> s.reverseComputeInline(block);
      case 9 -> s.decomposeReduction(block, loop);
      case 10, 11 -> s.rfactor(block, loop, random.nextInt(0, 2));
      case 12 -> s.splitK(block, random.nextInt(1, 4), pick(List.of(Combine.values()), random));
      default -> padStep(s, block, random);
    }
  }

  /** Pads a product, through copies of its operands and of its result. */
  private static void padStep(Schedule s, BlockRef block, SplittableRandom random) {
    if (block.name().equals("c") && s.loops(block).size() == 3) {
      s.cacheRead(s.buffer("a"), Scope.GLOBAL, block);
      s.cacheRead(s.buffer("b"), Scope.GLOBAL, block);
      s.cacheWrite(block, Scope.GLOBAL);
    }
    List<Long> multiples =
        List.of(random.nextLong(1, 5), random.nextLong(1, 5), random.nextLong(1, 5));
    if (random.nextBoolean()) {
      s.pad(block, multiples);
    } else {
      s.padRepeating(block, multiples);
    }
  }

  private static void bufferStep(Schedule s, BlockRef block, SplittableRandom random) {
    List<Buffer> intermediates = Tree.intermediates(s.func());
    Scope scope = pick(List.of(Scope.values()), random);
    if (intermediates.isEmpty() || random.nextInt(4) == 0) {
      if (random.nextBoolean()) {
        s.cacheWrite(block, scope);
      } else {
        s.cacheRead(s.buffer(pick(buffers(s.func()), random).name()), scope, block);
      }
      return;
    }
    Buffer buffer = pick(intermediates, random);
    BufferRef ref = s.buffer(buffer.name());
    switch (random.nextInt(7)) {
      case 0, 1 -> s.compactAll();
      case 5 -> s.transformLayout(ref, 1, 0);
      case 2, 3 -> s.setScope(ref, scope);
      case 4 -> s.storageAlign(ref, random.nextInt(0, 2), random.nextInt(1, 9), 0);
      default -> {
        if (buffer.hasConstantShape() && buffer.rank() == 2) {
          long rows = buffer.extent(0);
          long columns = buffer.extent(1);
          s.setLayout(ref, Layout.strided(new long[] {rows, columns}, new long[] {1, rows}));
        }
      }
    }
  }

  private static void tileStep(
      Schedule s,
      BlockRef block,
      List<LoopRef> loops,
      List<LoopRef> others,
      SplittableRandom random) {
    LoopRef loop = pick(loops, random);
    LoopRef next = loops.get(Math.min(loops.indexOf(loop) + 1, loops.size() - 1));
    switch (random.nextInt(15)) {
      case 0, 1, 2 -> s.tensorize(block, random.nextBoolean() ? loop : null, Attrs.NONE);
      case 3, 4 -> s.blockize(loop);
      case 5, 6 -> s.blockOrder(loop, next, pick(ORDERS, random));
      case 7 -> s.persistent(loop, random.nextInt(1, 4));
      case 8 -> s.streamK(loop, next, random.nextInt(1, 5));
      case 9, 10 ->
          s.mergeGrids(
              loops.getFirst(),
              others.getFirst(),
              pick(List.of(WorkOrder.values()), random),
              pick(WaitPolicy.PLAIN, random));
      case 11 -> s.cluster(random.nextInt(1, 3), random.nextInt(1, 3));
      case 12 -> s.multicast(block);
      case 13 -> s.annotate(block, "note", "any");
      default -> s.roles(1, random.nextInt(1, 3));
    }
  }

  private static List<Buffer> buffers(PrimFunc func) {
    List<Buffer> buffers = new ArrayList<>(func.buffers());
    buffers.addAll(Tree.intermediates(func));
    return buffers;
  }

  private static <T> T pick(List<T> list, SplittableRandom random) {
    return list.get(random.nextInt(list.size()));
  }
}
