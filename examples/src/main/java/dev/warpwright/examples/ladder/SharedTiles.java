package dev.warpwright.examples.ladder;

import dev.warpwright.examples.ladder.Steps.Blocks;
import dev.warpwright.examples.ladder.Steps.Tile;
import dev.warpwright.families.ThreadLoops;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.Schedule.Halves;
import java.util.List;

/** Tiles of A and B in shared memory, which all threads of a block read. */
final class SharedTiles implements Rung {
  private static final long TILE = 32;

  @Override
  public String name() {
    return "shared";
  }

  @Override
  public String change() {
    return "a block copies tiles of A and B to shared memory: 32 times fewer reads beyond it";
  }

  @Override
  public Schedule schedule(PrimFunc matmul) {
    Schedule s = new Schedule(matmul);
    Blocks blocks = Blocks.of(s, TILE, TILE, TILE);
    Tile tile = Tile.of(s, blocks.result(), TILE, TILE);
    s.computeAt(blocks.product(), tile.blockJ());
    s.bind(s.fuse(tile.i(), tile.j()), ThreadAxis.THREAD_X);

    List<LoopRef> loops = s.loops(blocks.product());
    Halves k = s.split(loops.get(4), TILE);
    s.reorder(k.outer(), loops.get(2), loops.get(3), k.inner());
    s.bind(s.fuse(loops.get(2), loops.get(3)), ThreadAxis.THREAD_X);
    s.unroll(k.inner());

    s.computeAt(blocks.a(), k.outer());
    s.computeAt(blocks.b(), k.outer());
    ThreadLoops.together(s, s.loops(blocks.a()).subList(3, 5), TILE * TILE, 1);
    ThreadLoops.together(s, s.loops(blocks.b()).subList(3, 5), TILE * TILE, 1);
    tile.bind(s);
    s.compactAll();
    s.decomposeReduction(blocks.product(), k.outer());
    return s;
  }
}
