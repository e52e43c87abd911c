package dev.warpwright.examples.ladder;

import dev.warpwright.examples.ladder.Steps.Blocks;
import dev.warpwright.examples.ladder.Steps.Tile;
import dev.warpwright.families.ThreadLoops;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.Schedule.Halves;
import java.util.List;

/** A column of 8 results for each thread. */
final class RegisterTiles1d implements Rung {
  private static final long TILE = 64;
  private static final long TILE_K = 8;
  private static final long ROWS = 8;

  @Override
  public String name() {
    return "tiles-1d";
  }

  @Override
  public String change() {
    return "a thread computes 8 elements of a column: an element of B is read once for all 8";
  }

  @Override
  public Schedule schedule(PrimFunc matmul) {
    Schedule s = new Schedule(matmul);
    Blocks blocks = Blocks.of(s, TILE, TILE, TILE_K);
    BlockRef column = s.cacheRead(s.buffer("B_shared"), Scope.LOCAL, blocks.product());
    Tile tile = Tile.of(s, blocks.result(), TILE, TILE);
    s.computeAt(blocks.product(), tile.blockJ());
    threads(s, tile.i(), tile.j());

    List<LoopRef> loops = s.loops(blocks.product());
    Halves k = s.split(loops.get(4), TILE_K);
    s.reorder(k.outer(), loops.get(2), loops.get(3), k.inner());
    LoopRef row = threads(s, loops.get(2), loops.get(3));
    s.reorder(k.inner(), row);
    s.unroll(k.inner());
    s.computeAt(column, k.inner());

    s.computeAt(blocks.a(), k.outer());
    s.computeAt(blocks.b(), k.outer());
    ThreadLoops.together(s, s.loops(blocks.a()).subList(3, 5), TILE * TILE / ROWS, 1);
    ThreadLoops.together(s, s.loops(blocks.b()).subList(3, 5), TILE * TILE / ROWS, 1);
    tile.bind(s);
    s.compactAll();
    s.decomposeReduction(blocks.product(), k.outer());
    return s;
  }

  /** Gives each thread a column of rows of a tile; the loop over them. */
  private static LoopRef threads(Schedule s, LoopRef i, LoopRef j) {
    Halves rows = s.split(i, ROWS);
    s.reorder(rows.outer(), j, rows.inner());
    s.bind(s.fuse(rows.outer(), j), ThreadAxis.THREAD_X);
    s.unroll(rows.inner());
    return rows.inner();
  }
}
