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

/** A square of 8 × 8 results for each thread. */
final class RegisterTiles2d implements Rung {
  private static final long TILE = 128;
  private static final long TILE_K = 8;
  private static final long SIDE = 8;
  private static final long THREADS = (TILE / SIDE) * (TILE / SIDE);

  @Override
  public String name() {
    return "tiles-2d";
  }

  @Override
  public String change() {
    return "a thread computes 8 x 8 elements: 16 reads of shared memory for 64 multiply-adds";
  }

  @Override
  public Schedule schedule(PrimFunc matmul) {
    Schedule s = new Schedule(matmul);
    Blocks blocks = Blocks.of(s, TILE, TILE, TILE_K);
    BlockRef column = s.cacheRead(s.buffer("A_shared"), Scope.LOCAL, blocks.product());
    BlockRef row = s.cacheRead(s.buffer("B_shared"), Scope.LOCAL, blocks.product());
    Tile tile = Tile.of(s, blocks.result(), TILE, TILE);
    s.computeAt(blocks.product(), tile.blockJ());
    threads(s, tile.i(), tile.j());

    List<LoopRef> loops = s.loops(blocks.product());
    Halves k = s.split(loops.get(4), TILE_K);
    s.reorder(k.outer(), loops.get(2), loops.get(3), k.inner());
    List<LoopRef> square = threads(s, loops.get(2), loops.get(3));
    s.reorder(k.inner(), square.get(0), square.get(1));
    s.unroll(k.inner());
    s.computeAt(column, k.inner());
    s.computeAt(row, k.inner());
    s.unroll(s.loops(column).getLast());
    s.unroll(s.loops(row).getLast());

    s.computeAt(blocks.a(), k.outer());
    s.computeAt(blocks.b(), k.outer());
    ThreadLoops.together(s, s.loops(blocks.a()).subList(3, 5), THREADS, 1);
    ThreadLoops.together(s, s.loops(blocks.b()).subList(3, 5), THREADS, 1);
    tile.bind(s);
    s.compactAll();
    s.decomposeReduction(blocks.product(), k.outer());
    return s;
  }

  /** Gives each thread a square of a tile; the loops over its rows and columns. */
  private static List<LoopRef> threads(Schedule s, LoopRef i, LoopRef j) {
    Halves rows = s.split(i, SIDE);
    Halves columns = s.split(j, SIDE);
    s.reorder(rows.outer(), columns.outer(), rows.inner(), columns.inner());
    s.bind(s.fuse(rows.outer(), columns.outer()), ThreadAxis.THREAD_X);
    s.unroll(rows.inner());
    s.unroll(columns.inner());
    return List.of(rows.inner(), columns.inner());
  }
}
