package dev.warpwright.schedule.primitive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.schedule.Outcome;
import dev.warpwright.schedule.Refusal;
import dev.warpwright.schedule.Samples;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.Schedule.Halves;
import org.junit.jupiter.api.Test;

/** Threads that own every other group of elements. */
final class GapsTest {
  /** Rows {@code 8 · group + 2 · thread + element} of 16, the loop over threads outermost. */
  private static Halves groups(Schedule s) {
    Halves group = s.split(s.loops(s.block("y")).getFirst(), 8);
    Halves element = s.split(group.inner(), 2);
    s.reorder(element.outer(), group.outer(), element.inner());
    return new Halves(element.outer(), group.outer());
  }

  @Test
  void nothingIsComputedBetweenTheGroups() {
    PrimFunc func = Samples.chain(16, 2);
    Schedule s = new Schedule(func);
    s.computeAt(s.block("h"), groups(s).outer());
    assertThat(IrPrinter.text(s.func()))
        .contains(
            String.join(
                "\n",
                "    alloc h: f32[16, 2] global",
                "    for i_o in 2 {",
                "      for i_i_i in 2 {",
                "        for j in 2 {"));
    Outcome.keepsResults(func, s);
    Outcome.replays(func, s);
  }

  @Test
  void threadsWithGapsAreIndependent() {
    PrimFunc func = Samples.chain(16, 2);
    Schedule s = new Schedule(func);
    s.bind(groups(s).outer(), ThreadAxis.THREAD_X);
    Outcome.keepsResults(func, s);
  }

  @Test
  void threadsWhoseGroupsOverlapAreNot() {
    Schedule s = new Schedule(Samples.centred(4, 6));
    Halves i = s.split(s.loops(s.block("s")).getFirst(), 2);
    Halves k = s.split(s.loops(s.block("s")).getLast(), 2);
    s.reorder(k.outer(), k.inner());
    Refusal.of(s, "bind", 5, "depend on each other", () -> s.bind(k.outer(), ThreadAxis.THREAD_X));
    s.bind(i.inner(), ThreadAxis.THREAD_X);
  }
}
