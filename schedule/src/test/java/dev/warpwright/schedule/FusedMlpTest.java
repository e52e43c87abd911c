package dev.warpwright.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.schedule.analysis.Tree;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The schedule that this module is made for: a network in one loop over row blocks. */
final class FusedMlpTest {
  /** What {@link #schedule} gives, for blocks of {@code rows} rows and {@code depth} of K. */
  static Schedule schedule(PrimFunc func, int layers, long rows, long depth, boolean gpu) {
    Schedule s = new Schedule(func);
    Attrs none = Attrs.NONE;
    // y = its own copy, tiled by rows; everything else is computed there, last layer first.
    Schedule.Written y = s.cacheWrite(s.block("y"), Scope.SHARED);
    LoopRef row = s.loops(y.copy()).getFirst();
    LoopRef bx = s.split(row, rows).outer();
    BlockRef x = s.cacheRead(s.buffer("x"), Scope.SHARED, s.block("acc0"));
    List<BlockRef> weights = new ArrayList<>();
    for (int l = 0; l < layers; l++) {
      weights.add(s.cacheRead(s.buffer("W" + l), Scope.SHARED, s.block("acc" + l)));
    }
    List<LoopRef> steps = new ArrayList<>();
    for (int l = layers - 1; l >= 0; l--) {
      BlockRef acc = s.block("acc" + l);
      s.computeAt(s.block(l == layers - 1 ? "y" : "h" + l), bx);
      s.computeAt(acc, bx);
      // Before the producers come, so that they fill up the last step of K.
      List<LoopRef> loops = s.loops(acc);
      Schedule.Halves k = s.split(loops.get(3), depth);
      s.reorder(k.outer(), loops.get(1), loops.get(2), k.inner());
      s.computeAt(weights.get(l), k.outer());
      steps.addFirst(k.outer());
      s.setScope(s.buffer("acc" + l), Scope.FRAGMENT);
      if (l < layers - 1) {
        s.setScope(s.buffer("h" + l), Scope.SHARED);
      }
    }
    s.computeAt(x, bx);
    s.compactAll();
    s.tensorize(x, bx, none);
    for (int l = 0; l < layers; l++) {
      BlockRef acc = s.block("acc" + l);
      s.tensorize(s.decomposeReduction(acc, steps.get(l)), bx, none);
      s.tensorize(weights.get(l), steps.get(l), none);
      s.tensorize(acc, steps.get(l), none.with("warps", "4x1"));
      s.tensorize(s.block(l == layers - 1 ? "y" : "h" + l), bx, none);
    }
    s.tensorize(y.copy(), bx, none);
    if (gpu) {
      s.bind(bx, ThreadAxis.BLOCK_X);
    } else {
      s.parallel(bx);
    }
    return s;
  }

  @Test
  void oneTileProgramForSymbolicRows() {
    ScalarParam m = Functions.rows();
    PrimFunc func = Functions.mlp(DType.F16, m.var(), m, 24, 40, 16);
    Schedule s = schedule(func, 2, 16, 8, true);
    assertThat(Tree.blocks(s.func().body())).isEmpty();
    Walk.statements(
        s.func().body(),
        st -> {
          if (st instanceof Stmt.Alloc(Buffer buffer, Stmt body)) {
            assertThat(buffer.hasConstantShape()).as(buffer.toString()).isTrue();
            assertThat(buffer.scope()).as(buffer.toString()).isNotEqualTo(Scope.GLOBAL);
          }
        });
    for (long rows : new long[] {1, 16, 37}) {
      Functions.assertSameResults(func, s.func(), rows);
    }
  }

  @Test
  void depthThatDividesNoWidth() {
    ScalarParam m = Functions.rows();
    PrimFunc func = Functions.mlp(DType.F32, m.var(), m, 13, 21, 10, 3);
    Schedule s = schedule(func, 3, 8, 8, false);
    Functions.assertSameResults(func, s.func(), 19);
  }
}
