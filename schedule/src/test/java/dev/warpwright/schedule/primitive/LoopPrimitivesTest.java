package dev.warpwright.schedule.primitive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.schedule.Functions;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Refusal;
import dev.warpwright.schedule.Samples;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.analysis.Tree;
import dev.warpwright.schedule.error.ScheduleError;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Split, fuse, reorder, and how loops are carried out. */
final class LoopPrimitivesTest {
  private static List<String> extents(Schedule s, String block) {
    List<Stmt> path = Tree.pathToBlock(s.func(), block);
    assertThat(path).isNotNull();
    return Tree.loops(path).stream()
        .map(l -> l.extent() instanceof Expr.IntImm n ? "" + n.value() : "?")
        .toList();
  }

  private static Stmt.Block block(Schedule s, String name) {
    List<Stmt> path = Tree.pathToBlock(s.func(), name);
    assertThat(path).isNotNull();
    return (Stmt.Block) path.getLast();
  }

  private static Stmt.For loop(Schedule s, LoopRef ref) {
    List<Stmt> path = Tree.pathToLoop(s.func(), ref.variable());
    assertThat(path).isNotNull();
    return (Stmt.For) path.getLast();
  }

  // --- split

  @Test
  void splitByADivisorNeedsNoPredicate() {
    PrimFunc func = Samples.matmul(6, 4, 5);
    Schedule s = new Schedule(func);
    s.split(s.loops(s.block("c")).get(0), 3);
    assertThat(extents(s, "c")).containsExactly("2", "3", "4", "5");
    assertThat(block(s, "c").predicate()).isNull();
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void splitByAnotherFactorGuardsTheBlock() {
    PrimFunc func = Samples.matmul(7, 4, 5);
    Schedule s = new Schedule(func);
    List<LoopRef> loops = s.loops(s.block("c"));
    s.split(loops.get(0), 3);
    s.split(loops.get(2), 2);
    assertThat(extents(s, "c")).containsExactly("3", "3", "4", "3", "2");
    assertThat(Guard.conjuncts(block(s, "c").predicate())).hasSize(2);
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void splitOfSymbolicRows() {
    PrimFunc func = Samples.chainOfRows(3);
    Schedule s = new Schedule(func);
    s.split(s.loops(s.block("y")).get(0), 4);
    assertThat(extents(s, "y")).containsExactly("?", "4", "3");
    for (long rows = 0; rows < 10; rows++) {
      Functions.assertSameResults(func, s.func(), rows);
    }
  }

  @Test
  void splitRefuses() {
    Schedule s = new Schedule(Samples.matmul(7, 4, 5));
    LoopRef i = s.loops(s.block("c")).get(0);
    LoopRef j = s.loops(s.block("c")).get(1);
    Refusal.of(s, "split", 3, "0 is not positive", () -> s.split(i, 0));
    s.split(i, 2);
    Refusal.of(s, "split", 1, "there is no loop over i", () -> s.split(i, 2));
    s.parallel(j);
    Refusal.of(s, "split", 2, "is not serial", () -> s.split(j, 2));
  }

  @Test
  void splitAroundTileStatementsHasToDivide() {
    Schedule s = new Schedule(Samples.chain(6, 4));
    LoopRef row = s.loops(s.block("y")).get(0);
    s.tensorize(s.block("y"), row, Attrs.NONE);
    Refusal.of(s, "split", 4, "4 does not divide", () -> s.split(row, 4));
    s.split(row, 3);
  }

  // --- fuse

  @Test
  void fuseKeepsTheResult() {
    PrimFunc func = Samples.matmul(3, 4, 5);
    Schedule s = new Schedule(func);
    List<LoopRef> loops = s.loops(s.block("c"));
    LoopRef f = s.fuse(loops.get(0), loops.get(1));
    assertThat(extents(s, "c")).containsExactly("12", "5");
    Functions.assertSameResults(func, s.func(), 0);
    s.split(f, 5);
    Functions.assertSameResults(func, s.func(), 0);
    s.parallel(s.loops(s.block("c")).get(0));
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void fuseRefuses() {
    Schedule s = new Schedule(Samples.chainOfRows(3));
    List<LoopRef> loops = s.loops(s.block("y"));
    Refusal.of(s, "fuse", 3, "is not all there is", () -> s.fuse(loops.get(1), loops.get(0)));
    s.parallel(loops.get(1));
    Refusal.of(s, "fuse", 2, "is not serial", () -> s.fuse(loops.get(0), loops.get(1)));
    Schedule t = new Schedule(Samples.chainOfRows(3));
    List<LoopRef> outer = t.loops(t.block("y"));
    t.reorder(outer.get(1), outer.get(0));
    Refusal.of(t, "fuse", 4, "not a constant", () -> t.fuse(outer.get(1), outer.get(0)));
    t.split(outer.get(0), 2);
    Refusal.of(t, "fuse", 1, "there is no loop", () -> t.fuse(outer.get(1), outer.get(0)));
  }

  // --- merge

  /** Two results, and what both are computed from, in one loop. */
  @Test
  void mergeLetsResultsShareALoop() {
    PrimFunc func = Samples.twoResults(5, 3);
    Schedule s = new Schedule(func);
    LoopRef y = s.split(s.loops(s.block("y")).getFirst(), 2).outer();
    LoopRef z = s.split(s.loops(s.block("z")).getFirst(), 2).outer();
    s.merge(y, z);
    assertThat(s.loops(s.block("y")).getFirst()).isEqualTo(z);
    s.computeAt(s.block("h"), z);
    s.compactAll();
    s.bind(z, ThreadAxis.BLOCK_X);
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void mergeRefuses() {
    Schedule s = new Schedule(Samples.twoResults(4, 6));
    LoopRef h = s.loops(s.block("h")).getFirst();
    List<LoopRef> y = s.loops(s.block("y"));
    List<LoopRef> z = s.loops(s.block("z"));
    Refusal.of(s, "merge", 2, "other extents", () -> s.merge(y.get(0), z.get(1)));
    Refusal.of(s, "merge", 3, "does not come before", () -> s.merge(z.get(0), y.get(0)));
    Refusal.of(s, "merge", 3, "other loops", () -> s.merge(y.get(1), z.get(1)));
    Refusal.of(s, "merge", 4, "h is used by both", () -> s.merge(h, y.get(0)));
    Refusal.of(s, "merge", 4, "h is used by both", () -> s.merge(h, z.get(0)));
    s.annotate(y.get(0), "unroll", 1L);
    Refusal.of(s, "merge", 5, "would be lost", () -> s.merge(y.get(0), z.get(0)));
    s.parallel(z.get(0));
    Refusal.of(s, "merge", 2, "is not serial", () -> s.merge(y.get(0), z.get(0)));
    Schedule t = new Schedule(Samples.twoResults(4, 6));
    List<LoopRef> outer = t.loops(t.block("y"));
    LoopRef fused = t.fuse(outer.get(0), outer.get(1));
    LoopRef other = t.loops(t.block("z")).getFirst();
    Refusal.of(t, "merge", 1, "there is no loop", () -> t.merge(outer.get(0), other));
    Refusal.of(t, "merge", 2, "other extents", () -> t.merge(fused, other));
  }

  // --- reorder

  @Test
  void reorderMovesSpatialLoopsFreely() {
    PrimFunc func = Samples.matmul(3, 4, 5);
    Schedule s = new Schedule(func);
    List<LoopRef> l = s.loops(s.block("c"));
    s.reorder(l.get(2), l.get(0));
    assertThat(extents(s, "c")).containsExactly("5", "4", "3");
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void reorderRefuses() {
    Schedule s = new Schedule(Samples.matmul(4, 4, 6));
    List<LoopRef> l = s.loops(s.block("c"));
    Refusal.of(s, "reorder", 1, "not given once", () -> s.reorder(l.get(0), l.get(0)));
    Schedule.Halves k = s.split(l.get(2), 2);
    Refusal.of(s, "reorder", 1, "no loop over k", () -> s.reorder(l.get(2), l.get(0)));
    Refusal.of(s, "reorder", 5, "carry the reduction", () -> s.reorder(k.inner(), k.outer()));
    s.decomposeReduction(s.block("c"), k.outer());
    Refusal.of(s, "reorder", 2, "is not all there is", () -> s.reorder(k.outer(), l.get(0)));

    Schedule t = new Schedule(Samples.chain(4, 4));
    LoopRef y = t.loops(t.block("y")).get(0);
    LoopRef h = t.loops(t.block("h")).get(0);
    Refusal.of(t, "reorder", 2, "not around each other", () -> t.reorder(y, h));
    t.vectorize(t.loops(t.block("y")).get(1));
    Refusal.of(t, "reorder", 4, "vectorized", () -> t.reorder(t.loops(t.block("y")).get(1), y));
  }

  @Test
  void reorderOfSeveralStatementsNeedsIndependentIterations() {
    PrimFunc func = Samples.chain(4, 6);
    Schedule s = new Schedule(func);
    List<LoopRef> y = s.loops(s.block("y"));
    s.computeAt(s.block("h"), y.get(1));
    s.reorder(y.get(1), y.get(0));
    Functions.assertSameResults(func, s.func(), 0);

    PrimFunc rows = Samples.matmul(4, 4, 6);
    Schedule t = new Schedule(rows);
    List<LoopRef> c = t.loops(t.block("c"));
    t.reorder(c.get(2), c.get(0), c.get(1));
    t.tensorize(t.block(t.decomposeReduction(t.block("c"), c.get(2)).name()), null, Attrs.NONE);
    t.tensorize(t.block("c"), c.get(1), Attrs.NONE);
    Refusal.of(
        t, "reorder", 5, "depend on each other through c", () -> t.reorder(c.get(1), c.get(2)));
  }

  // --- kinds

  @Test
  void kindsAreMarked() {
    PrimFunc func = Samples.matmul(4, 8, 6);
    Schedule s = new Schedule(func);
    List<LoopRef> l = s.loops(s.block("c"));
    s.reorder(l.get(2), l.get(1));
    s.bind(l.get(0), ThreadAxis.BLOCK_X);
    s.vectorize(l.get(1));
    s.pipeline(l.get(2), 3);
    assertThat(loop(s, l.get(0)).axis()).isEqualTo(ThreadAxis.BLOCK_X);
    assertThat(loop(s, l.get(1)).kind()).isEqualTo(ForKind.VECTORIZED);
    assertThat(loop(s, l.get(2)).kind()).isEqualTo(ForKind.PIPELINED);
    assertThat(loop(s, l.get(2)).attrs().getLong("stages", 0)).isEqualTo(3);
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void unrollAndParallel() {
    PrimFunc func = Samples.matmul(4, 3, 2);
    Schedule s = new Schedule(func);
    List<LoopRef> l = s.loops(s.block("c"));
    s.parallel(l.get(0));
    s.unroll(l.get(2));
    assertThat(loop(s, l.get(0)).kind()).isEqualTo(ForKind.PARALLEL);
    assertThat(loop(s, l.get(2)).kind()).isEqualTo(ForKind.UNROLLED);
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void reductionsAreNotParallel() {
    Schedule s = new Schedule(Samples.matmul(4, 8, 6));
    LoopRef k = s.loops(s.block("c")).get(2);
    String why = "depend on each other through c";
    Refusal.of(s, "parallel", 3, why, () -> s.parallel(k));
    Refusal.of(s, "vectorize", 5, why, () -> s.vectorize(k));
    Refusal.of(s, "bind", 5, why, () -> s.bind(k, ThreadAxis.THREAD_X));
  }

  @Test
  void kindsRefuse() {
    Schedule s = new Schedule(Samples.chainOfRows(4));
    LoopRef i = s.loops(s.block("y")).get(0);
    LoopRef j = s.loops(s.block("y")).get(1);
    Refusal.of(s, "unroll", 3, "not a constant", () -> s.unroll(i));
    Refusal.of(s, "vectorize", 3, "not a constant", () -> s.vectorize(i));
    Refusal.of(s, "bind", 3, "not a constant", () -> s.bind(i, ThreadAxis.THREAD_X));
    Refusal.of(s, "pipeline", 3, "0 stages", () -> s.pipeline(i, 0));
    s.bind(i, ThreadAxis.BLOCK_X);
    Refusal.of(s, "parallel", 2, "is not serial", () -> s.parallel(i));
    Refusal.of(s, "unroll", 2, "is not serial", () -> s.unroll(i));
    Refusal.of(s, "bind", 2, "is not serial", () -> s.bind(i, ThreadAxis.BLOCK_Y));
    Refusal.of(s, "bind", 4, "around j", () -> s.bind(j, ThreadAxis.BLOCK_X));
    LoopRef h = s.loops(s.block("h")).get(1);
    Refusal.of(s, "bind", 4, "another extent", () -> s.bind(h, ThreadAxis.BLOCK_X));
    Schedule.Halves halves = s.split(j, 2);
    Refusal.of(s, "bind", 1, "no loop over j", () -> s.bind(j, ThreadAxis.BLOCK_Y));
    Refusal.of(s, "parallel", 1, "no loop over j", () -> s.parallel(j));
    Refusal.of(s, "unroll", 1, "no loop over j", () -> s.unroll(j));
    Refusal.of(s, "vectorize", 1, "no loop over j", () -> s.vectorize(j));
    Refusal.of(s, "pipeline", 1, "no loop over j", () -> s.pipeline(j, 2));
    Refusal.of(s, "vectorize", 4, "not directly", () -> s.vectorize(halves.outer()));
    s.vectorize(halves.inner());
    Refusal.of(s, "vectorize", 2, "is not serial", () -> s.vectorize(halves.inner()));
    Refusal.of(s, "pipeline", 2, "is not serial", () -> s.pipeline(halves.inner(), 2));
  }

  @Test
  void coresDoNotShareOnChipBuffers() {
    Schedule s = new Schedule(Samples.chain(4, 6));
    LoopRef row = s.loops(s.block("y")).get(0);
    s.setScope(s.buffer("h"), Scope.SHARED);
    Refusal.of(s, "bind", 5, "share the shared buffer h", () -> s.bind(row, ThreadAxis.BLOCK_X));
    s.computeAt(s.block("h"), row);
    s.bind(row, ThreadAxis.BLOCK_X);
  }

  @Test
  void annotate() {
    Schedule s = new Schedule(Samples.matmul(4, 3, 2));
    LoopRef i = s.loops(s.block("c")).get(0);
    s.annotate(i, "note", "here");
    s.annotate(s.block("c"), "vec", 3L);
    s.annotate("threads", 128L);
    assertThat(loop(s, i).attrs().getString("note")).isEqualTo("here");
    assertThat(block(s, "c").attrs().getLong("vec", 0)).isEqualTo(3);
    assertThat(s.func().attrs().getLong("threads", 0)).isEqualTo(128);
    Refusal.of(
        s, "annotate", 2, "neither an integer nor a string", () -> s.annotate(i, "note", 1.5));
    Refusal.of(
        s,
        "annotate",
        3,
        "no attribute 'thread'; is 'threads' meant?",
        () -> s.annotate("thread", 64L));
    Refusal.of(
        s,
        "annotate",
        3,
        "stands at a function, not at a loop",
        () -> s.annotate(i, "threads", 64L));
    Refusal.of(
        s, "annotate", 3, "is a whole number, not a string", () -> s.annotate("threads", "64"));
    s.split(i, 2);
    Refusal.of(s, "annotate", 1, "no loop over i", () -> s.annotate(i, "note", "x"));
    assertThat(Exprs.isConst(loop(s, s.loops(s.block("c")).get(0)).extent(), 2)).isTrue();
    assertThat(loop(s, s.loops(s.block("c")).get(0)).attrs().getString("note")).isEqualTo("here");
  }

  @Test
  void messageShowsTheProgramWithTheCulpritMarked() {
    Schedule s = new Schedule(Samples.chain(4, 6));
    LoopRef j = s.loops(s.block("y")).get(1);
    s.parallel(j);
    ScheduleError error =
        Refusal.of(s, "unroll", 2, "loop j is not serial but 'parallel'", () -> s.unroll(j));
    assertThat(error.summary())
        .isEqualTo(
            "unroll: loop j is not serial but 'parallel' (requirement 2 of docs/primitives.md#unroll)");
    List<String> lines = error.getMessage().lines().toList();
    int carets = 0;
    while (!lines.get(carets).contains("^^^")) {
      carets++;
    }
    assertThat(lines.get(carets - 1)).contains("parallel j in 6");
  }
}
