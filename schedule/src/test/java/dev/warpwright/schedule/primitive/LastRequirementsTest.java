package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.Functions;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Refusal;
import dev.warpwright.schedule.Samples;
import dev.warpwright.schedule.Schedule;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Requirements that hold for the result: what is shared between cores, what is written at all. */
final class LastRequirementsTest {
  private static List<LoopRef> loops(Schedule s, String block) {
    return s.loops(s.block(block));
  }

  /** {@code g = x; h = g + g; y = h}. */
  private static PrimFunc three() {
    Buffer x = Samples.global("x", 4, 6);
    Buffer g = Samples.global("g", 4, 6);
    Buffer h = Samples.global("h", 4, 6);
    Buffer y = Samples.global("y", 4, 6);
    return Functions.function(
        List.of(x, y),
        Functions.elementwise(g, at -> new Expr.Load(x, at)),
        Functions.elementwise(h, at -> Exprs.add(new Expr.Load(g, at), new Expr.Load(g, at))),
        Functions.elementwise(y, at -> new Expr.Load(h, at)));
  }

  @Test
  void coresDoNotShareWhatAMovedBlockReadsOrWrites() {
    String why = "share the shared buffer g";
    Schedule s = new Schedule(three());
    LoopRef y = loops(s, "y").get(0);
    s.setScope(s.buffer("g"), Scope.SHARED);
    s.parallel(y);
    Refusal.of(s, "computeAt", 7, why, () -> s.computeAt(s.block("h"), y));

    Schedule t = new Schedule(three());
    LoopRef g = loops(t, "g").get(0);
    t.setScope(t.buffer("h"), Scope.SHARED);
    t.parallel(g);
    String other = "share the shared buffer h";
    BlockRef h = t.block("h");
    Refusal.of(t, "reverseComputeAt", 7, other, () -> t.reverseComputeAt(h, g));
    Refusal.of(t, "reverseComputeInline", 7, other, () -> t.reverseComputeInline(h));
  }

  @Test
  void copiesOfWhatIsGuardedInATile() {
    Schedule s = new Schedule(Samples.chainOfRows(3));
    LoopRef tile = s.split(loops(s, "y").get(0), 4).outer();
    s.computeAt(s.block("h"), tile);
    Refusal.of(
        s,
        "cacheWrite",
        4,
        "elements that nothing writes",
        () -> s.cacheWrite(s.block("h"), Scope.SHARED));
    s.compactAll();
    Refusal.of(
        s,
        "cacheRead",
        5,
        "elements that nothing writes",
        () -> s.cacheRead(s.buffer("h"), Scope.SHARED, s.block("y")));
  }

  @Test
  void aCopyInsideTheReduction() {
    Schedule s = new Schedule(Samples.matmul(4, 6, 8));
    BlockRef c = s.block("c");
    List<LoopRef> l = s.loops(c);
    s.reorder(l.get(2), l.get(0));
    s.computeAt(s.cacheRead(s.buffer("a"), Scope.GLOBAL, c), l.get(2));
    Refusal.of(s, "cacheWrite", 5, "carry the reduction", () -> s.cacheWrite(c, Scope.LOCAL));
  }

  @Test
  void theSumIsAllocatedInsideTheLoop() {
    Schedule s = new Schedule(Samples.centred(4, 6));
    LoopRef row = loops(s, "y").get(0);
    s.computeAt(s.block("s"), row);
    Refusal.of(
        s,
        "decomposeReduction",
        5,
        "allocated inside",
        () -> s.decomposeReduction(s.block("s"), row));
  }

  @Test
  void boundsThatDependOnALoopOfTheNest() {
    PrimFunc triangle =
        new IrParser()
            .primFunc(
                "f",
                """
                primfunc f(x: f32[4, 4], y: f32[4, 4]) {
                  for i in 4 { for j in i { for k in 2 {
                    block y(v: spatial(4) = i, w: spatial(i) = j, r: reduce(2) = k) {
                      reads x[v, w] writes y[v, w]
                      init { y[v, w] = 0.0 }
                      y[v, w] = y[v, w] + x[v, w]
                    }
                  } } }
                }
                """);
    Schedule s = new Schedule(triangle);
    List<LoopRef> l = loops(s, "y");
    String why = "depend on another loop of the nest";
    Refusal.of(s, "reorder", 3, why, () -> s.reorder(l.get(1), l.get(0)));
    s.reorder(l.get(2), l.get(1));
  }
}
