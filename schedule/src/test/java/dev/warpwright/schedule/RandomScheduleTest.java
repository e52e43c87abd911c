package dev.warpwright.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.DType;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.StructuralEquality;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.schedule.analysis.Access;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Iteration;
import dev.warpwright.schedule.analysis.Span;
import dev.warpwright.schedule.analysis.Tree;
import dev.warpwright.schedule.trace.Trace;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Primitives in random order, with random arguments, most of which are refused: whatever is
 * accepted does not change a bit of the result. {@code -Dwarpwright.seed=N} tries other ones.
 */
final class RandomScheduleTest {
  private static final int PROGRAMS = 150;
  private static final int STEPS = 25;

  /** Splits by factors that do not divide make loops longer and longer. */
  private static final long MAX_INSTANCES = 20_000;

  private final long seed = Long.getLong("warpwright.seed", 1);

  @Test
  void acceptedStepsKeepTheAnswer() {
    SplittableRandom seeds = new SplittableRandom(seed);
    int accepted = 0;
    for (int p = 0; p < PROGRAMS; p++) {
      long programSeed = seeds.nextLong();
      SplittableRandom random = new SplittableRandom(programSeed);
      PrimFunc func = program(random);
      Schedule schedule = new Schedule(func);
      try {
        for (int step = 0; step < STEPS && instances(schedule.func()) < MAX_INSTANCES; step++) {
          accepted += step(schedule, random) ? 1 : 0;
        }
        assertThat(instances(schedule.func())).isLessThan(100 * MAX_INSTANCES);
        Functions.assertSameResults(func, schedule.func(), random.nextInt(0, 9));
        PrimFunc replayed = Trace.parse(schedule.trace().toJson()).replay(func);
        assertThat(StructuralEquality.difference(schedule.func(), replayed)).isEmpty();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError(
            "seed "
                + seed
                + ", program "
                + p
                + ":\n"
                + schedule.trace().toJson()
                + IrPrinter.text(schedule.func()),
            e);
      }
    }
    assertThat(accepted).as("steps accepted, seed %d", seed).isGreaterThan(PROGRAMS * 4);
  }

  private static PrimFunc program(SplittableRandom random) {
    ScalarParam m = Functions.rows();
    return switch (random.nextInt(5)) {
      case 0 -> Samples.matmul(size(random), size(random), size(random));
      case 1 -> Samples.chain(size(random), size(random));
      case 2 -> Samples.chainOfRows(size(random));
      case 3 -> Samples.centred(size(random), size(random));
      default -> Functions.mlp(DType.F16, m.var(), m, size(random), size(random), size(random));
    };
  }

  /** How often leaves are reached, symbolic extents taken for 8. */
  private static long instances(PrimFunc func) {
    long most = 0;
    for (Access access : Accesses.of(func.body())) {
      double count = 1;
      for (Iteration iteration : access.inner()) {
        Span span = iteration.span();
        count *= span == null ? 8 : span.size();
      }
      most = Math.max(most, (long) count);
    }
    return most;
  }

  private static int size(SplittableRandom random) {
    return random.nextInt(1, 8);
  }

  /** Tries one primitive; whether it was accepted. */
  private static boolean step(Schedule s, SplittableRandom random) {
    List<BlockRef> blocks = s.blocks();
    if (blocks.isEmpty()) {
      return false;
    }
    BlockRef block = pick(blocks, random);
    List<LoopRef> loops = s.loops(block);
    List<LoopRef> others = s.loops(pick(blocks, random));
    List<String> buffers =
        Tree.intermediates(s.func()).stream().map(buffer -> buffer.name()).toList();
    if (loops.isEmpty() || others.isEmpty()) {
      return false;
    }
    LoopRef loop = pick(loops, random);
    Scope scope = pick(List.of(Scope.values()), random);
    try {
      switch (random.nextInt(20)) {
        case 0, 1 -> s.split(loop, random.nextInt(1, 6));
        case 2 -> s.fuse(loop, pick(loops, random));
        case 3, 4 -> s.reorder(loop, pick(loops, random));
        case 5 -> s.parallel(loop);
        case 6 -> s.vectorize(loop);
        case 7 -> s.unroll(loop);
        case 8 -> s.bind(loop, pick(List.of(ThreadAxis.values()), random));
        case 9, 10, 11 -> s.computeAt(block, pick(others, random));
        case 12 -> s.computeInline(block);
        case 13 -> s.decomposeReduction(block, loop);
        case 14 -> {
          if (random.nextBoolean()) {
            s.cacheWrite(block, scope);
          } else {
            s.cacheRead(s.buffer(pick(List.of("a", "x", "h", "W0", "h0"), random)), scope, block);
          }
        }
        case 15 -> s.compactAll();
        case 16 ->
            s.setScope(new BufferRef(buffers.isEmpty() ? "x" : pick(buffers, random)), scope);
        case 17 ->
            s.transformLayout(new BufferRef(buffers.isEmpty() ? "x" : pick(buffers, random)), 1, 0);
        case 18 ->
            s.pad(block, random.nextLong(1, 5), random.nextLong(1, 5), random.nextLong(1, 5));
        default -> s.tensorize(block, random.nextBoolean() ? loop : null, Attrs.NONE);
      }
      return true;
    } catch (ScheduleError refused) {
      return false;
    }
  }

  private static <T> T pick(List<T> list, SplittableRandom random) {
    return list.get(random.nextInt(list.size()));
  }
}
