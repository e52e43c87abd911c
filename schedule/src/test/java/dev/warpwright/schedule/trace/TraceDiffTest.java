package dev.warpwright.schedule.trace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Samples;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.primitive.SplitK.Combine;
import java.util.List;
import org.junit.jupiter.api.Test;

final class TraceDiffTest {
  private final PrimFunc func = Samples.matmul(8, 6, 4);

  private Trace tiled(long rows, boolean unrolled) {
    Schedule s = new Schedule(func);
    List<LoopRef> l = s.loops(s.block("c"));
    if (unrolled) {
      s.unroll(s.split(l.get(2), 2).inner());
    }
    Schedule.Halves m = s.split(l.get(0), rows);
    s.reorder(m.outer(), l.get(1), m.inner());
    s.blockOrder(m.outer(), l.get(1), new BlockOrder.Row());
    return s.trace();
  }

  @Test
  void noDifference() {
    TraceDiff diff = tiled(4, true).diff(tiled(4, true));
    assertThat(diff.isEmpty()).isTrue();
    assertThat(diff.changes()).isEmpty();
  }

  @Test
  void aStepInBetweenRenumbersNothing() {
    TraceDiff diff = tiled(4, false).diff(tiled(2, true));
    assertThat(diff.isEmpty()).isFalse();
    assertThat(diff.toString())
        .isEqualTo(
            """
            - split(c[0], factor=4)
            + split(c[2], factor=2)
            + unroll(c[2].inner)
            + split(c[0], factor=2)
              reorder(c[0].outer, c[1], c[0].inner)
              blockOrder(c[0].outer, c[1], order=row)\
            """
                .stripIndent());
    assertThat(diff.changes().lines()).hasSize(4);
    assertThat(tiled(2, true).diff(tiled(4, false)).changes())
        .contains("+ split(c[0], factor=4)")
        .contains("- unroll(c[2].inner)");
  }

  @Test
  void resultsAreNamedByWhereTheyComeFrom() {
    Schedule s = new Schedule(func);
    List<LoopRef> l = s.loops(s.block("c"));
    LoopRef both = s.fuse(l.get(0), l.get(1));
    s.split(both, s.samplePerfectTile(both, 2, 8, List.of(12L, 4L)).get(1));
    Schedule.Parts parts = s.splitK(s.block("c"), 2, Combine.TURNS);
    s.unroll(parts.part());
    s.unroll(parts.turn());
    assertThat(new Trace(List.of()).diff(s.trace()).changes())
        .isEqualTo(
            """
            + fuse(c[0], c[1])
            + samplePerfectTile((c[0]*c[1]), decision=12,4, maxInnermost=8, parts=2)
            + split((c[0]*c[1]), factor=tile((c[0]*c[1]))[1])
            + splitK(c, combine=turns, parts=2)
            + unroll(c_rf.part)
            + unroll(c.turn)\
            """
                .stripIndent());
  }

  @Test
  void anotherDecisionIsSeen() {
    Schedule s = new Schedule(func);
    s.samplePerfectTile(s.loops(s.block("c")).get(0), 2, 8, List.of(2L, 4L));
    Trace other = s.trace().withDecision(1, List.of(4L, 2L));
    assertThat(s.trace().diff(other).changes().lines())
        .hasSize(2)
        .first()
        .asString()
        .contains("decision=2,4");
  }
}
