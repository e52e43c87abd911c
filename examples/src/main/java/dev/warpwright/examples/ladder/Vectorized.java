package dev.warpwright.examples.ladder;

import dev.warpwright.examples.ladder.Steps.Blocks;
import dev.warpwright.examples.ladder.Steps.Tile;
import dev.warpwright.families.ThreadLoops;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.Schedule.Halves;
import java.util.List;

/** Every access moves 16 bytes; A is stored by columns, so that a thread's rows are neighbours. */
final class Vectorized implements Rung {
  @Override
  public String name() {
    return "vectorised";
  }

  @Override
  public String change() {
    return "A is transposed on its way to shared memory; every access moves 16 bytes";
  }

  @Override
  public Schedule schedule(PrimFunc matmul) {
    Schedule s = new Schedule(matmul);
    build(s, new Square(128, 128, 8, 2, 2, false));
    return s;
  }

  static void build(Schedule s, Square square) {
    Blocks blocks = Blocks.of(s, square.m(), square.n(), square.k());
    s.transformLayout(s.buffer("A_shared"), 1, 0);
    BlockRef column = s.cacheRead(s.buffer("A_shared"), Scope.LOCAL, blocks.product());
    BlockRef row = s.cacheRead(s.buffer("B_shared"), Scope.LOCAL, blocks.product());
    Tile tile = Tile.of(s, blocks.result(), square.m(), square.n());
    s.computeAt(blocks.product(), tile.blockJ());
    Steps.vectorize(s, square.bind(s, tile.i(), tile.j()).getLast());

    List<LoopRef> loops = s.loops(blocks.product());
    Halves k = s.split(loops.get(4), square.k());
    s.reorder(k.outer(), loops.get(2), loops.get(3), k.inner());
    List<LoopRef> own = square.bind(s, loops.get(2), loops.get(3));
    s.reorder(k.inner(), own.get(0), own.get(1), own.get(2), own.get(3));
    s.unroll(k.inner());
    s.unroll(own.getLast());
    s.computeAt(column, k.inner());
    s.computeAt(row, k.inner());
    ThreadLoops.vectors(s, column, Steps.lanes(s));
    ThreadLoops.vectors(s, row, Steps.lanes(s));

    s.computeAt(blocks.a(), k.outer());
    s.computeAt(blocks.b(), k.outer());
    ThreadLoops.together(
        s, s.loops(blocks.a()).subList(3, 5).reversed(), square.threads(), Steps.lanes(s));
    ThreadLoops.together(s, s.loops(blocks.b()).subList(3, 5), square.threads(), Steps.lanes(s));
    tile.bind(s);
    s.compactAll();
    s.decomposeReduction(blocks.product(), k.outer());
  }
}
