package dev.warpwright.schedule.primitive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ReduceOp;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.Functions;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Refusal;
import dev.warpwright.schedule.Replay;
import dev.warpwright.schedule.Samples;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.analysis.Tree;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;

final class TensorizeTest {
  private static <T extends Stmt> T only(Schedule s, Class<T> kind) {
    List<T> found = all(s, kind);
    assertThat(found).as(kind.getSimpleName()).hasSize(1);
    return found.getFirst();
  }

  private static <T extends Stmt> List<T> all(Schedule s, Class<T> kind) {
    List<T> found = new ArrayList<>();
    Walk.statements(
        s.func().body(),
        st -> {
          if (kind.isInstance(st)) {
            found.add(kind.cast(st));
          }
        });
    return found;
  }

  private static List<LoopRef> loops(Schedule s, String name) {
    return s.loops(s.block(name));
  }

  @Test
  void aWholeProduct() {
    for (boolean transposed : new boolean[] {false, true}) {
      Buffer a = Buffer.of("a", DType.F16, Scope.GLOBAL, 4, 6);
      Buffer b =
          Buffer.of(
              "b", DType.F16, Scope.GLOBAL, transposed ? new long[] {5, 6} : new long[] {6, 5});
      Buffer c = Samples.global("c", 4, 5);
      PrimFunc func = Functions.function(List.of(a, b, c), Functions.product(c, a, b, transposed));
      Schedule s = new Schedule(func);
      s.tensorize(s.block("c"), Attrs.NONE.with("instr", "fma"));
      assertThat(only(s, Stmt.TileFill.class).to().buffer()).isSameAs(c);
      Stmt.TileMma mma = only(s, Stmt.TileMma.class);
      assertThat(mma.transposeB()).isEqualTo(transposed);
      assertThat(mma.attrs().getString("instr")).isEqualTo("fma");
      assertThat(Tree.blocks(s.func().body())).isEmpty();
      Functions.assertSameResults(func, s.func(), 0);
    }
  }

  @Test
  void aTileOfAProductInSteps() {
    PrimFunc func = Samples.matmul(8, 6, 12);
    Schedule s = new Schedule(func);
    List<LoopRef> l = loops(s, "c");
    Schedule.Halves i = s.split(l.get(0), 4);
    Schedule.Halves j = s.split(l.get(1), 3);
    Schedule.Halves k = s.split(l.get(2), 4);
    s.reorder(i.outer(), j.outer(), k.outer(), i.inner(), j.inner(), k.inner());
    Refusal.of(
        s,
        "tensorize",
        4,
        "decompose it first",
        () -> s.tensorize(s.block("c"), k.outer(), Attrs.NONE));
    BlockRef init = s.decomposeReduction(s.block("c"), k.outer());
    s.tensorize(init, j.outer(), Attrs.NONE);
    s.tensorize(s.block("c"), k.outer(), Attrs.NONE);
    assertThat(only(s, Stmt.TileMma.class).a().ranges().get(1).extent()).isEqualTo(Exprs.i32(4));
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void loopsSplitInsideTheTileJoinAgain() {
    PrimFunc func = Samples.matmul(8, 6, 12);
    Schedule s = new Schedule(func);
    List<LoopRef> l = loops(s, "c");
    s.split(l.get(0), 4);
    s.split(l.get(2), 3);
    s.tensorize(s.block("c"), Attrs.NONE);
    assertThat(only(s, Stmt.TileMma.class).a().ranges().get(0).extent()).isEqualTo(Exprs.i32(8));
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void rowsAreSummed() {
    PrimFunc func = Samples.centred(5, 7);
    Schedule s = new Schedule(func);
    s.tensorize(s.block("s"), Attrs.NONE);
    s.tensorize(s.block("y"), Attrs.NONE);
    assertThat(only(s, Stmt.TileReduce.class).op()).isEqualTo(ReduceOp.SUM);
    assertThat(only(s, Stmt.TileMap.class).vars()).hasSize(2);
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void aGuardedSumAddsNothingBeyondTheEnd() {
    PrimFunc func = Samples.centred(5, 7);
    Schedule s = new Schedule(func);
    s.setScope(s.buffer("s"), Scope.SHARED);
    s.split(loops(s, "s").get(1), 4);
    s.tensorize(s.block("s"), Attrs.NONE);
    assertThat(only(s, Stmt.TileReduce.class).value()).isInstanceOf(Expr.Select.class);
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void copiesCastAndCutAtTheEdge() {
    Buffer x = Buffer.of("x", DType.F16, Scope.GLOBAL, 7, 5);
    Buffer y = Samples.global("y", 7, 5);
    PrimFunc func =
        Functions.function(
            List.of(x, y),
            Functions.elementwise(y, at -> Exprs.cast(DType.F32, new Expr.Load(x, at))));
    Schedule s = new Schedule(func);
    LoopRef tile = s.split(loops(s, "y").get(0), 4).outer();
    s.tensorize(s.block("y"), tile, Attrs.NONE);
    Stmt.TileCopy copy = only(s, Stmt.TileCopy.class);
    assertThat(copy.to().ranges().get(0).extent()).isEqualTo(Exprs.i32(4));
    s.parallel(tile);
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void aTransposeIsAMap() {
    Buffer x = Samples.global("x", 7, 5);
    Buffer y = Samples.global("y", 5, 7);
    PrimFunc func =
        Functions.function(
            List.of(x, y), Functions.elementwise(y, at -> Exprs.load(x, at.get(1), at.get(0))));
    Schedule s = new Schedule(func);
    s.tensorize(s.block("y"), Attrs.NONE);
    assertThat(only(s, Stmt.TileMap.class).stores()).hasSize(1);
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void aGuardedMapOnChipSelectsZero() {
    PrimFunc func = Samples.chain(4, 6);
    Schedule s = new Schedule(func);
    LoopRef col = s.split(loops(s, "y").get(1), 4).outer();
    s.computeAt(s.block("h"), col);
    s.setScope(s.buffer("h"), Scope.LOCAL);
    s.compact(s.buffer("h"));
    s.tensorize(s.block("h"), col, Attrs.NONE);
    Stmt.TileMap map = only(s, Stmt.TileMap.class);
    assertThat(map.stores().getFirst().value()).isInstanceOf(Expr.Select.class);
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void aGuardedStoreToGlobalMemoryIsRefused() {
    Schedule s = new Schedule(Samples.chain(7, 6));
    LoopRef tile = s.split(loops(s, "y").get(0), 4).outer();
    Refusal.of(
        s, "tensorize", 5, "leave the chip", () -> s.tensorize(s.block("y"), tile, Attrs.NONE));
    Schedule t = new Schedule(Samples.matmul(7, 4, 5));
    LoopRef rows = t.split(loops(t, "c").get(0), 4).outer();
    Refusal.of(
        t, "tensorize", 5, "leave the chip", () -> t.tensorize(t.block("c"), rows, Attrs.NONE));
  }

  @Test
  void aCutReductionNeedsZeros() {
    PrimFunc func = Samples.matmul(4, 4, 7);
    Schedule s = new Schedule(func);
    Schedule.Written c = s.cacheWrite(s.block("c"), Scope.LOCAL);
    LoopRef k = s.split(loops(s, "c").get(2), 4).outer();
    Refusal.of(
        s,
        "tensorize",
        6,
        "a is not known to be zero",
        () -> s.tensorize(s.block("c"), null, Attrs.NONE));
    List<LoopRef> l = loops(s, "c");
    s.reorder(k, l.get(0), l.get(1), l.get(3));
    BlockRef a = s.cacheRead(s.buffer("a"), Scope.SHARED, s.block("c"));
    BlockRef b = s.cacheRead(s.buffer("b"), Scope.SHARED, s.block("c"));
    s.computeAt(a, k);
    s.computeAt(b, k);
    s.compactAll();
    BlockRef init = s.decomposeReduction(s.block("c"), k);
    s.tensorize(init, Attrs.NONE);
    s.tensorize(a, Attrs.NONE);
    Refusal.of(
        s,
        "tensorize",
        6,
        "b_shared is not known to be zero",
        () -> s.tensorize(s.block("c"), null, Attrs.NONE));
    s.tensorize(b, Attrs.NONE);
    s.tensorize(s.block("c"), null, Attrs.NONE);
    s.tensorize(c.copy(), Attrs.NONE);
    assertThat(Tree.blocks(s.func().body())).isEmpty();
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void zerosHaveToBeWrittenNotJustAllocated() {
    // a is staged before k is split: the copy ends with a, so what the last step reads beyond is
    // undefined, though its source would have given zeros.
    Schedule s = new Schedule(Samples.matmul(4, 4, 7));
    s.cacheWrite(s.block("c"), Scope.LOCAL);
    BlockRef a = s.cacheRead(s.buffer("a"), Scope.SHARED, s.block("c"));
    BlockRef b = s.cacheRead(s.buffer("b"), Scope.SHARED, s.block("c"));
    s.split(loops(s, "c").get(2), 4);
    s.compactAll();
    s.tensorize(a, Attrs.NONE);
    s.tensorize(b, Attrs.NONE);
    Refusal.of(
        s,
        "tensorize",
        6,
        "a_shared is not known to be zero",
        () -> s.tensorize(s.block("c"), null, Attrs.NONE));
  }

  @Test
  void parallelLoopsStayIndependent() {
    // Whether iterations of a parallel loop are apart is told without predicates: the one that
    // keeps 3 rows within 2 does not count.
    Schedule s = new Schedule(Samples.chain(4, 6));
    Schedule.Halves rows = s.split(loops(s, "y").getFirst(), 2);
    s.parallel(rows.outer());
    s.split(s.split(rows.inner(), 1).inner(), 3);
    Refusal.of(
        s,
        "tensorize",
        7,
        "depend on each other through y",
        () -> s.tensorize(s.block("h"), Attrs.NONE));
  }

  @Test
  void aProductReadsWhatIsWritten() {
    PrimFunc func = Samples.matmul(4, 4, 6);
    Schedule s = new Schedule(func);
    Schedule.Written c = s.cacheWrite(s.block("c"), Scope.LOCAL);
    BlockRef a = s.cacheRead(s.buffer("a"), Scope.SHARED, s.block("c"));
    LoopRef rows = s.split(loops(s, "c").getFirst(), 3).outer();
    s.computeAt(a, rows);
    s.compactAll();
    // Of the last three rows there is one: the copy leaves two of its tile as they were.
    Refusal.of(
        s,
        "tensorize",
        8,
        "reads elements of a_shared that may be written nowhere",
        () -> s.tensorize(s.block("c"), rows, Attrs.NONE));
    s.tensorize(a, rows, Attrs.NONE);
    s.tensorize(s.block("c"), rows, Attrs.NONE);
    s.tensorize(c.copy(), Attrs.NONE);
    assertThat(Tree.blocks(s.func().body())).isEmpty();
    Functions.assertSameResults(func, s.func(), 0);
  }

  @Test
  void aMapSelectsZeroWhereNothingIsWritten() {
    PrimFunc func = Samples.chainOfRows(6);
    Schedule s = new Schedule(func);
    Schedule.Written y = s.cacheWrite(s.block("y"), Scope.LOCAL);
    LoopRef rows = s.split(loops(s, y.copy().name()).getFirst(), 3).outer();
    s.computeAt(s.block("y"), rows);
    s.computeAt(s.block("h"), rows);
    s.compactAll();
    Schedule first = Replay.schedule(s.trace(), func, 0);
    first.tensorize(first.block("y"), loops(first, "y").getFirst(), Attrs.NONE);
    assertThat(only(first, Stmt.TileMap.class).stores().getFirst().value())
        .isInstanceOf(Expr.Select.class);
    Functions.assertSameResults(func, first.func(), 4);

    // Tiles of h that are written in full need no select.
    s.setScope(s.buffer("h"), Scope.LOCAL);
    s.tensorize(s.block("h"), rows, Attrs.NONE);
    s.tensorize(s.block("y"), rows, Attrs.NONE);
    assertThat(all(s, Stmt.TileMap.class).getLast().stores().getFirst().value())
        .isNotInstanceOf(Expr.Select.class);
    Functions.assertSameResults(func, s.func(), 4);
  }

  @Test
  void refusesWhatItDoesNotKnow() {
    Schedule s = new Schedule(Samples.chainOfRows(6));
    LoopRef h = loops(s, "h").get(0);
    Refusal.of(s, "tensorize", 1, "no block q", () -> s.tensorize(new BlockRef("q"), Attrs.NONE));
    Refusal.of(s, "tensorize", 1, "is not around", () -> s.tensorize(s.block("y"), h, Attrs.NONE));
    Refusal.of(s, "tensorize", 3, "constant extent", () -> s.tensorize(s.block("y"), Attrs.NONE));
    s.computeAt(s.block("h"), loops(s, "y").get(1));
    LoopRef row = loops(s, "y").get(0);
    Refusal.of(s, "tensorize", 2, "alone", () -> s.tensorize(s.block("y"), row, Attrs.NONE));

    Buffer x = Samples.global("x", 4, 6);
    Buffer p = Samples.global("p", 4);
    Stmt sum = Functions.rowSum(p, x);
    Schedule t =
        new Schedule(
            Functions.function(
                List.of(x, p),
                new Rewriter() {
                  @Override
                  public Expr expr(Expr e) {
                    return e instanceof Expr.Binary(var op, Expr a, Expr b)
                            && op == BinaryOp.ADD
                            && e.type().equals(Type.F32)
                        ? Exprs.call(MathOp.POW, a, b)
                        : super.expr(e);
                  }
                }.stmt(sum)));
    Refusal.of(
        t,
        "tensorize",
        4,
        "neither a matrix product nor a sum",
        () -> t.tensorize(t.block("p"), Attrs.NONE));
    Schedule u = new Schedule(Samples.matmul(4, 4, 6));
    u.fuse(loops(u, "c").get(1), loops(u, "c").get(2));
    Refusal.of(
        u, "tensorize", 4, "spatial and reduce", () -> u.tensorize(u.block("c"), Attrs.NONE));
  }

  /** Copies of one buffer into others, in one parallel loop over rows. */
  private static Schedule copies(int count) {
    List<Buffer> buffers = new ArrayList<>();
    List<Stmt> copies = new ArrayList<>();
    buffers.add(Samples.global("b0", 64, 8));
    for (int i = 1; i <= count; i++) {
      buffers.add(Samples.global("b" + i, 64, 8));
      copies.add(copy(buffers.get(i), buffers.getFirst()));
    }
    Schedule s =
        new Schedule(Functions.function(List.copyOf(buffers), copies.toArray(Stmt[]::new)));
    LoopRef rows = loops(s, "b" + count).getFirst();
    for (int i = count - 1; i > 0; i--) {
      s.merge(loops(s, "b" + i).getFirst(), rows);
    }
    s.parallel(rows);
    return s;
  }

  private static Stmt copy(Buffer to, Buffer from) {
    return Functions.elementwise(to, at -> new Expr.Load(from, at));
  }

  private static SequencedMap<BlockRef, Attrs> allBlocks(Schedule s) {
    SequencedMap<BlockRef, Attrs> attrs = new LinkedHashMap<>();
    s.blocks().forEach(block -> attrs.put(block, Attrs.NONE));
    return attrs;
  }

  @Test
  void allAtOnceAsOneAfterTheOther() {
    Schedule together = copies(5);
    together.tensorizeAll(allBlocks(together));
    Schedule each = copies(5);
    for (BlockRef block : List.copyOf(each.blocks())) {
      each.tensorize(block, Attrs.NONE);
    }
    assertThat(together.func().toString()).isEqualTo(each.func().toString());
    assertThat(together.trace().toString()).isEqualTo(each.trace().toString());
    assertThat(all(together, Stmt.TileCopy.class)).hasSize(5);
  }

  /** What is made on the way tells, unlike time, the same on every machine how much was done. */
  @Test
  void allAtOnceLooksAtParallelLoopsOnce() {
    Schedule together = copies(60);
    Schedule each = copies(60);
    long before = Allocated.bytes();
    together.tensorizeAll(allBlocks(together));
    long once = Allocated.bytes() - before;
    before = Allocated.bytes();
    for (BlockRef block : List.copyOf(each.blocks())) {
      each.tensorize(block, Attrs.NONE);
    }
    long always = Allocated.bytes() - before;
    assertThat(once).isLessThan(always / 2);
  }

  /** Bytes that this thread has allocated. */
  private static final class Allocated {
    static long bytes() {
      return ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean())
          .getCurrentThreadAllocatedBytes();
    }
  }
}
