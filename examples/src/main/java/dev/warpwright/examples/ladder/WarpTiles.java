package dev.warpwright.examples.ladder;

import dev.warpwright.examples.ladder.Steps.Blocks;
import dev.warpwright.examples.ladder.Steps.Tile;
import dev.warpwright.families.ThreadLoops;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.type.DType;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.Schedule.Halves;
import java.util.List;

/** Each warp computes a part of the tile of its own, its lanes elements in groups of four. */
final class WarpTiles implements Rung {
  static final Tiling TILING = new Tiling(128, 128, 16, 32, 64, 4, 2);

  /** Elements of 8 bytes take twice the registers, so an SM holds one block. */
  private static final Tiling IN_F64 = new Tiling(128, 128, 16, 32, 64, 4, 1);

  @Override
  public String name() {
    return "warp-tiles";
  }

  @Override
  public String change() {
    return "a warp owns 32 x 64 elements: its lanes read the same few lines of shared memory";
  }

  @Override
  public Schedule schedule(PrimFunc matmul) {
    Schedule s = new Schedule(matmul);
    s.unroll(build(s, Steps.dtype(matmul) == DType.F64 ? IN_F64 : TILING).inner());
    return s;
  }

  /** The whole schedule; the loops over the steps of k and inside a step. */
  static Halves build(Schedule s, Tiling tiling) {
    Blocks blocks = Blocks.of(s, tiling.m(), tiling.n(), tiling.k());
    s.transformLayout(s.buffer("A_shared"), 1, 0);
    BlockRef column = s.cacheRead(s.buffer("A_shared"), Scope.LOCAL, blocks.product());
    BlockRef row = s.cacheRead(s.buffer("B_shared"), Scope.LOCAL, blocks.product());
    Tile tile = Tile.of(s, blocks.result(), tiling.m(), tiling.n());
    s.computeAt(blocks.product(), tile.blockJ());
    Steps.vectorize(s, threads(s, tiling, tile.i(), tile.j()).getLast());

    List<LoopRef> loops = s.loops(blocks.product());
    Halves k = s.split(loops.get(4), tiling.k());
    s.reorder(k.outer(), loops.get(2), loops.get(3), k.inner());
    List<LoopRef> own = threads(s, tiling, loops.get(2), loops.get(3));
    s.reorder(k.inner(), own.get(0), own.get(1), own.get(2), own.get(3));
    s.unroll(own.getLast());
    for (BlockRef fragment : List.of(column, row)) {
      s.computeAt(fragment, k.inner());
      ThreadLoops.vectors(s, fragment, Steps.lanes(s));
    }

    s.computeAt(blocks.a(), k.outer());
    s.computeAt(blocks.b(), k.outer());
    ThreadLoops.together(
        s, s.loops(blocks.a()).subList(3, 5).reversed(), tiling.threads(), Steps.lanes(s));
    ThreadLoops.together(s, s.loops(blocks.b()).subList(3, 5), tiling.threads(), Steps.lanes(s));
    tile.bind(s);
    s.compactAll();
    s.storageAlign(s.buffer("A_shared"), 0, 32, 4);
    s.decomposeReduction(blocks.product(), k.outer());
    s.annotate("minBlocks", tiling.blocksPerSm());
    return k;
  }

  /** Gives each thread its elements of a tile: loops over groups and their elements, i then j. */
  private static List<LoopRef> threads(Schedule s, Tiling tiling, LoopRef i, LoopRef j) {
    Halves warpI = s.split(i, tiling.warpM());
    Halves warpJ = s.split(j, tiling.warpN());
    Halves groupI = s.split(warpI.inner(), tiling.lanesM() * Tiling.RUN);
    Halves groupJ = s.split(warpJ.inner(), tiling.lanesN() * Tiling.RUN);
    Halves laneI = s.split(groupI.inner(), Tiling.RUN);
    Halves laneJ = s.split(groupJ.inner(), Tiling.RUN);
    List<LoopRef> own = List.of(groupI.outer(), laneI.inner(), groupJ.outer(), laneJ.inner());
    List<LoopRef> threads = List.of(warpI.outer(), warpJ.outer(), laneI.outer(), laneJ.outer());
    s.reorder(
        warpI.outer(),
        warpJ.outer(),
        laneI.outer(),
        laneJ.outer(),
        own.get(0),
        own.get(1),
        own.get(2),
        own.get(3));
    s.bind(ThreadLoops.fuse(s, threads), ThreadAxis.THREAD_X);
    own.subList(0, 3).forEach(s::unroll);
    return own;
  }
}
