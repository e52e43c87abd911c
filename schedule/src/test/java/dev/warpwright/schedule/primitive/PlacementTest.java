package dev.warpwright.schedule.primitive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.Functions;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Refusal;
import dev.warpwright.schedule.Samples;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.analysis.Tree;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Where blocks are computed, and where what they compute lives. */
final class PlacementTest {
  private static Buffer buffer(Schedule s, String name) {
    Buffer buffer = Tree.buffer(s.func(), name);
    assertThat(buffer).as(name).isNotNull();
    return buffer;
  }

  private static Stmt.Block block(Schedule s, String name) {
    List<Stmt> path = Tree.pathToBlock(s.func(), name);
    assertThat(path).isNotNull();
    return (Stmt.Block) path.getLast();
  }

  private static List<LoopRef> loops(Schedule s, String name) {
    return s.loops(s.block(name));
  }

  // --- computeAt

  @Test
  void computeAtARowComputesThatRow() {
    PrimFunc func = Samples.chain(4, 6);
    Schedule s = new Schedule(func);
    s.computeAt(s.block("h"), loops(s, "y").get(0));
    assertThat(loops(s, "h")).hasSize(3).first().isEqualTo(loops(s, "y").get(0));
    assertThat(block(s, "h").predicate()).isNull();
    s.compact(s.buffer("h"));
    assertThat(buffer(s, "h").extent(0)).isEqualTo(1);
    assertThat(buffer(s, "h").extent(1)).isEqualTo(6);
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void computeAtATileOfSymbolicRowsIsGuarded() {
    PrimFunc func = Samples.chainOfRows(3);
    Schedule s = new Schedule(func);
    LoopRef tile = s.split(loops(s, "y").get(0), 4).outer();
    s.computeAt(s.block("h"), tile);
    assertThat(Guard.conjuncts(block(s, "h").predicate())).hasSize(1);
    s.compact(s.buffer("h"));
    assertThat(buffer(s, "h").hasConstantShape()).isTrue();
    assertThat(buffer(s, "h").extent(0)).isEqualTo(4);
    for (long rows = 0; rows < 10; rows++) {
      Functions.assertSameResults(func, s.func(), rows);
    }
  }

  @Test
  void computeAtRecomputesWhereNeeded() {
    PrimFunc func = Samples.centred(4, 6);
    Schedule s = new Schedule(func);
    List<LoopRef> y = loops(s, "y");
    s.computeAt(s.block("s"), y.get(1));
    Functions.assertSameResults(func, s.func(), 0);
    Refusal.of(
        s,
        "parallel",
        3,
        "depend on each other through s",
        () -> s.parallel(loops(s, "s").getLast()));
  }

  @Test
  void computeAtAWindowCoversTheHalo() {
    Buffer x = Samples.global("x", 12);
    Buffer h = Samples.global("h", 12);
    Buffer y = Samples.global("y", 10);
    PrimFunc func =
        Functions.function(
            List.of(x, y),
            Functions.elementwise(h, at -> Exprs.mul(new Expr.Load(x, at), Exprs.f32(3))),
            Functions.elementwise(
                y, at -> Exprs.add(new Expr.Load(h, at), Exprs.load(h, Exprs.add(at.get(0), 2)))));
    Schedule s = new Schedule(func);
    LoopRef tile = s.split(loops(s, "y").get(0), 4).outer();
    s.computeAt(s.block("h"), tile);
    s.compact(s.buffer("h"));
    assertThat(buffer(s, "h").extent(0)).isEqualTo(6);
    s.parallel(tile);
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void computeAtRefuses() {
    Schedule s = new Schedule(Samples.chain(4, 6));
    LoopRef h = loops(s, "h").get(0);
    LoopRef y = loops(s, "y").get(0);
    Refusal.of(s, "computeAt", 1, "no block z", () -> s.computeAt(new BlockRef("z"), y));
    Refusal.of(s, "computeAt", 2, "around block h already", () -> s.computeAt(s.block("h"), h));
    Refusal.of(s, "computeAt", 3, "no intermediate", () -> s.computeAt(s.block("y"), h));
    s.split(y, 2);
    Refusal.of(s, "computeAt", 1, "no loop over i", () -> s.computeAt(s.block("h"), y));
  }

  @Test
  void computeAtNeedsTheOnlyWriter() {
    Schedule s = new Schedule(Samples.centred(4, 6));
    s.decomposeReduction(s.block("s"), loops(s, "s").get(1));
    Refusal.of(
        s,
        "computeAt",
        3,
        "another statement writes s",
        () -> s.computeAt(s.block("s"), loops(s, "y").get(0)));
  }

  /** {@code h[i + 2] = 1} for i in 8, in block t. */
  private static Stmt shifted(Buffer h) {
    Stmt nest = Functions.elementwise(Samples.global("t", 8), at -> Exprs.f32(1));
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt st) {
        return st instanceof Stmt.Store store
            ? new Stmt.Store(h, List.of(Exprs.add(store.indices().get(0), 2)), store.value())
            : super.stmt(st);
      }

      @Override
      public Region region(Region r) {
        return new Region(h, List.of(Range.at(Exprs.add(r.ranges().get(0).min(), 2))));
      }
    }.stmt(nest);
  }

  @Test
  void computeAtNeedsNamedDimensions() {
    Buffer x = Samples.global("x", 8);
    Buffer h = Samples.global("h", 10);
    Buffer y = Samples.global("y", 8);
    PrimFunc func =
        Functions.function(
            List.of(x, y),
            shifted(h),
            Functions.elementwise(
                y, at -> Exprs.add(new Expr.Load(x, at), Exprs.load(h, Exprs.add(at.get(0), 2)))));
    Schedule s = new Schedule(func);
    Refusal.of(
        s,
        "computeAt",
        4,
        "does not write the element that its variables name",
        () -> s.computeAt(s.block("t"), loops(s, "y").get(0)));
  }

  @Test
  void computeAtNeedsAllReadersInside() {
    Buffer x = Samples.global("x", 8);
    Buffer h = Samples.global("h", 8);
    Buffer y = Samples.global("y", 8);
    Buffer z = Samples.global("z", 8);
    Schedule s =
        new Schedule(
            Functions.function(
                List.of(x, y, z),
                Functions.elementwise(h, at -> Exprs.mul(new Expr.Load(x, at), Exprs.f32(3))),
                Functions.elementwise(y, at -> new Expr.Load(h, at)),
                Functions.elementwise(z, at -> new Expr.Load(h, at))));
    Refusal.of(
        s,
        "computeAt",
        5,
        "not all readers of h",
        () -> s.computeAt(s.block("h"), loops(s, "y").get(0)));
  }

  @Test
  void computeAtDoesNotPassAWriterOfItsInput() {
    Buffer x = Samples.global("x", 8);
    Buffer h = Samples.global("h", 8);
    Buffer y = Samples.global("y", 8);
    Schedule s =
        new Schedule(
            Functions.function(
                List.of(x, y),
                Functions.elementwise(h, at -> Exprs.mul(new Expr.Load(x, at), Exprs.f32(3))),
                Functions.elementwise(x, at -> Exprs.f32(0)),
                Functions.elementwise(y, at -> new Expr.Load(h, at))));
    Refusal.of(
        s,
        "computeAt",
        6,
        "x, which the block reads, is written later",
        () -> s.computeAt(s.block("h"), loops(s, "y").get(0)));
    Refusal.of(
        s,
        "computeInline",
        5,
        "x, which the block reads, is written later",
        () -> s.computeInline(s.block("h")));
  }

  @Test
  void computeAtDoesNotLeaveItsOwnProducerBehind() {
    Buffer x = Samples.global("x", 8);
    Buffer g = Samples.global("g", 8);
    Buffer h = Samples.global("h", 8);
    Buffer y = Samples.global("y", 8);
    Schedule s =
        new Schedule(
            Functions.function(
                List.of(x, y),
                Functions.elementwise(g, at -> Exprs.mul(new Expr.Load(x, at), Exprs.f32(3))),
                Functions.elementwise(h, at -> Exprs.add(new Expr.Load(g, at), Exprs.f32(3))),
                Functions.elementwise(y, at -> new Expr.Load(h, at))));
    s.computeAt(s.block("g"), loops(s, "h").get(0));
    Refusal.of(
        s,
        "computeAt",
        6,
        "g, which the block reads, is computed inside its loop",
        () -> s.computeAt(s.block("h"), loops(s, "y").get(0)));
    Refusal.of(
        s,
        "computeInline",
        5,
        "g, which the block reads, is computed inside its loop",
        () -> s.computeInline(s.block("h")));
  }

  @Test
  void computeAtAParallelLoopNeedsIndependentIterations() {
    Buffer x = Samples.global("x", 12);
    Buffer h = Samples.global("h", 12);
    Buffer y = Samples.global("y", 12);
    PrimFunc func =
        Functions.function(
            List.of(x, y),
            Functions.elementwise(h, at -> Exprs.mul(new Expr.Load(x, at), Exprs.f32(3))),
            Functions.elementwise(y, at -> new Expr.Load(h, at)));
    Schedule s = new Schedule(func);
    s.parallel(loops(s, "y").get(0));
    // The allocation moves along, so each iteration has a buffer of its own.
    s.computeAt(s.block("h"), loops(s, "y").get(0));
    Functions.assertSameResults(func, s.func(), 0);
  }

  // --- computeInline

  @Test
  void inlineRemovesTheIntermediate() {
    PrimFunc func = Samples.chain(4, 6);
    Schedule s = new Schedule(func);
    s.split(loops(s, "h").get(0), 3);
    s.computeInline(s.block("h"));
    assertThat(Tree.intermediates(s.func())).isEmpty();
    assertThat(Tree.blocks(s.func().body())).hasSize(1);
    assertThat(block(s, "y").reads())
        .singleElement()
        .extracting(r -> r.buffer().name())
        .isEqualTo("x");
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void inlineRefuses() {
    Schedule s = new Schedule(Samples.centred(4, 6));
    Refusal.of(s, "computeInline", 1, "no block", () -> s.computeInline(new BlockRef("q")));
    Refusal.of(s, "computeInline", 2, "elementwise", () -> s.computeInline(s.block("s")));
    Refusal.of(s, "computeInline", 3, "parameter", () -> s.computeInline(s.block("y")));
    Schedule t = new Schedule(Samples.chain(4, 6));
    t.tensorize(t.block("y"), Attrs.NONE);
    Refusal.of(t, "computeInline", 4, "no block reads h", () -> t.computeInline(t.block("h")));
  }

  @Test
  void inlineStopsBeforeExpressionsExplode() {
    Buffer x = Samples.global("x", 4);
    Buffer a = Samples.global("a", 4);
    Buffer y = Samples.global("y", 4);
    Expr[] value = {null};
    Schedule s =
        new Schedule(
            Functions.function(
                List.of(x, y),
                Functions.elementwise(
                    a,
                    at -> {
                      Expr e = new Expr.Load(x, at);
                      for (int i = 0; i < 400; i++) {
                        e = Exprs.call(MathOp.SQRT, e);
                      }
                      return e;
                    }),
                Functions.elementwise(
                    y,
                    at -> {
                      value[0] = new Expr.Load(a, at);
                      return Exprs.add(value[0], Exprs.mul(value[0], value[0]));
                    })));
    Refusal.of(s, "computeInline", 6, "too large", () -> s.computeInline(s.block("a")));
  }

  // --- decomposeReduction

  @Test
  void decompose() {
    PrimFunc func = Samples.matmul(7, 4, 6);
    Schedule s = new Schedule(func);
    List<LoopRef> l = loops(s, "c");
    Schedule.Halves i = s.split(l.get(0), 3);
    Schedule.Halves k = s.split(l.get(2), 4);
    s.reorder(k.outer(), i.inner(), l.get(1), k.inner());
    BlockRef init = s.decomposeReduction(s.block("c"), k.outer());
    assertThat(init.name()).isEqualTo("c_init");
    assertThat(block(s, "c").init()).isNull();
    assertThat(Guard.conjuncts(block(s, "c_init").predicate())).hasSize(1);
    assertThat(loops(s, "c_init")).hasSize(3);
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void decomposeRefuses() {
    Schedule s = new Schedule(Samples.matmul(4, 4, 6));
    List<LoopRef> l = loops(s, "c");
    Schedule.Halves k = s.split(l.get(2), 2);
    Refusal.of(
        s, "decomposeReduction", 3, "carries", () -> s.decomposeReduction(s.block("c"), k.inner()));
    s.decomposeReduction(s.block("c"), l.get(1));
    Refusal.of(
        s,
        "decomposeReduction",
        2,
        "no initialisation",
        () -> s.decomposeReduction(s.block("c"), l.get(1)));
    Refusal.of(
        s,
        "decomposeReduction",
        1,
        "not around",
        () -> s.decomposeReduction(s.block("c_init"), k.inner()));
    Schedule t = new Schedule(Samples.matmul(4, 4, 6));
    LoopRef jk = t.fuse(loops(t, "c").get(1), loops(t, "c").get(2));
    Refusal.of(
        t,
        "decomposeReduction",
        4,
        "spatial and reduce",
        () -> t.decomposeReduction(t.block("c"), jk));
  }

  // --- buffers

  @Test
  void setScopeRefuses() {
    Schedule s = new Schedule(Samples.chain(4, 6));
    Refusal.of(s, "setScope", 1, "parameter", () -> s.setScope(s.buffer("x"), Scope.SHARED));
    s.setScope(s.buffer("h"), Scope.LOCAL);
    assertThat(buffer(s, "h").scope()).isEqualTo(Scope.LOCAL);
    Schedule t = new Schedule(Samples.chain(4, 6));
    t.parallel(loops(t, "y").get(0));
    Refusal.of(t, "setScope", 2, "share", () -> t.setScope(t.buffer("h"), Scope.SHARED));
  }

  @Test
  void compactRefuses() {
    Schedule s = new Schedule(Samples.chain(4, 6));
    Refusal.of(s, "compact", 1, "parameter", () -> s.compact(s.buffer("x")));
    Buffer unused = Samples.global("u", 4);
    PrimFunc func = s.func().withBody(new Stmt.Alloc(unused, s.func().body()));
    Schedule t = new Schedule(func);
    Refusal.of(t, "compact", 3, "not accessed", () -> t.compact(t.buffer("u")));
    Buffer laidOut = Samples.global("h", 8).withLayout(Layout.rowMajor(8));
    Buffer y = Samples.global("y", 8);
    Schedule u =
        new Schedule(
            Functions.function(
                List.of(y),
                Functions.elementwise(laidOut, at -> Exprs.f32(1)),
                Functions.elementwise(y, at -> new Expr.Load(laidOut, at))));
    Refusal.of(u, "compact", 2, "layout", () -> u.compact(u.buffer("h")));
  }

  @Test
  void cacheReadAndWrite() {
    PrimFunc func = Samples.matmul(7, 5, 6);
    Schedule s = new Schedule(func);
    Schedule.Written c = s.cacheWrite(s.block("c"), Scope.LOCAL);
    assertThat(c.copy().name()).isEqualTo("c_write");
    assertThat(c.buffer().name()).isEqualTo("c_local");
    BlockRef a = s.cacheRead(s.buffer("a"), Scope.SHARED, s.block("c"));
    assertThat(a.name()).isEqualTo("a_shared");
    Functions.assertSameResults(func, s.func(), 0);
    LoopRef tile = s.split(loops(s, "c_write").get(0), 4).outer();
    s.computeAt(s.block("c"), tile);
    s.computeAt(a, loops(s, "c").get(3));
    s.compactAll();
    assertThat(buffer(s, "a_shared").extent(0)).isEqualTo(1);
    assertThat(buffer(s, "c_local").extent(0)).isEqualTo(4);
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void cachesInsideLoopsCoverWhatIsAccessedThere() {
    PrimFunc func = Samples.chain(8, 6);
    Schedule s = new Schedule(func);
    LoopRef tile = s.split(loops(s, "y").get(0), 4).outer();
    s.computeAt(s.block("h"), tile);
    s.cacheRead(s.buffer("h"), Scope.LOCAL, s.block("y"));
    s.cacheWrite(s.block("y"), Scope.LOCAL);
    s.compactAll();
    assertThat(buffer(s, "h_local").extent(0)).isEqualTo(4);
    assertThat(buffer(s, "y_local").extent(0)).isEqualTo(4);
    s.parallel(tile);
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void cacheReadRefuses() {
    Schedule s = new Schedule(Samples.chain(4, 6));
    Refusal.of(s, "cacheRead", 1, "no reader", () -> s.cacheRead(s.buffer("x"), Scope.SHARED));
    Refusal.of(
        s,
        "cacheRead",
        2,
        "does not just read x",
        () -> s.cacheRead(s.buffer("x"), Scope.SHARED, s.block("y")));
    Buffer x = Samples.global("x", 8);
    Buffer y = Samples.global("y", 8);
    Buffer z = Samples.global("z", 8);
    Schedule t =
        new Schedule(
            Functions.function(
                List.of(x, y, z),
                Functions.elementwise(y, at -> new Expr.Load(x, at)),
                Functions.elementwise(x, at -> Exprs.f32(0)),
                Functions.elementwise(z, at -> new Expr.Load(x, at))));
    Refusal.of(
        t,
        "cacheRead",
        3,
        "written after the place of the copy",
        () -> t.cacheRead(t.buffer("x"), Scope.GLOBAL, t.block("y"), t.block("z")));
    Schedule u = new Schedule(Samples.chain(4, 6));
    u.parallel(loops(u, "y").get(0));
    Refusal.of(
        u, "cacheRead", 4, "share", () -> u.cacheRead(u.buffer("h"), Scope.SHARED, u.block("y")));
  }

  @Test
  void cacheWriteRefuses() {
    Schedule s = new Schedule(Samples.centred(4, 6));
    Refusal.of(s, "cacheWrite", 1, "no block", () -> s.cacheWrite(new BlockRef("q"), Scope.SHARED));
    s.decomposeReduction(s.block("s"), loops(s, "s").get(1));
    Refusal.of(
        s, "cacheWrite", 2, "another statement", () -> s.cacheWrite(s.block("s"), Scope.SHARED));
    Schedule t = new Schedule(Samples.chain(4, 6));
    t.parallel(loops(t, "y").get(0));
    Refusal.of(t, "cacheWrite", 3, "share", () -> t.cacheWrite(t.block("y"), Scope.SHARED));
  }

  @Test
  void rowsOfHalfPrecisionAreSummedInF32() {
    Buffer x = Buffer.of("x", DType.F16, Scope.GLOBAL, 5, 7);
    Buffer sum = Samples.global("s", 5);
    PrimFunc func = Functions.function(List.of(x, sum), Functions.rowSum(sum, x));
    Schedule s = new Schedule(func);
    s.tensorize(s.block("s"), Attrs.NONE);
    Functions.assertSameResults(func, s.func(), 0);
  }
}
