package dev.warpwright.cli.program;

import dev.warpwright.families.ThreadLoops;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.BufferRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.space.Decisions;
import dev.warpwright.space.Rejected;
import java.util.ArrayList;
import java.util.List;

/**
 * A block of threads for a tile of the result's last two dimensions, a thread for a few rows and
 * columns of it: everything that a tile needs is computed by the threads whose elements it is.
 * Where something is summed up, its operands may come through shared memory, a step of the sum at a
 * time.
 */
final class TileSketch implements FunctionSketch {
  private static final int MOST_THREADS = 1024;
  private static final int WARP = 32;

  /**
   * How a tile is divided.
   *
   * @param threadsY threads along the rows
   * @param threadsX threads along the columns
   * @param rows of a thread, neighbours
   * @param columns of a thread, in vectors that lie apart
   * @param vector neighbouring columns of a thread
   */
  private record Tile(long threadsY, long threadsX, long rows, long columns, long vector) {
    long threads() {
      return threadsY * threadsX;
    }
  }

  @Override
  public String name() {
    return "tiles";
  }

  @Override
  public Schedule schedule(PrimFunc function, Decisions decisions) {
    Schedule s = OwnProgram.started(function);
    FunctionSketch.inline(s);
    FunctionBlocks blocks = FunctionBlocks.of(s.func());
    FunctionBlocks.Entry last = blocks.result();
    int rank = last.dimensions().size();
    if (rank == 0) {
      throw new Rejected("results", "the result is one number");
    }
    for (FunctionBlocks.Entry each : blocks.blocks()) {
      if (each.dimensions().size() != rank) {
        throw new Rejected("results", each.name() + " has other dimensions than the result");
      }
    }
    boolean sums = blocks.blocks().stream().anyMatch(FunctionBlocks.Entry::reduces);
    Tile tile = tile(decisions, rank > 1);
    long depth = sums ? decisions.choose("depth", 8, 16, 4, 32, 1, 2) : 1;
    boolean shared = sums && decisions.choose("shared", 1, 0) == 1;

    FunctionSketch.Parts parts = FunctionSketch.Parts.inRegisters(s, blocks);
    List<FunctionBlocks.Entry> inner = parts.inner();
    BlockRef result = parts.result();
    List<List<BlockRef>> staged = new ArrayList<>();
    for (FunctionBlocks.Entry each : inner) {
      staged.add(shared && each.reduces() ? staged(s, each) : List.of());
    }
    List<LoopRef> loops = s.loops(result);
    Schedule.Halves x = s.split(loops.getLast(), tile.threadsX() * tile.columns());
    Schedule.Halves y =
        rank > 1 ? s.split(loops.get(rank - 2), tile.threadsY() * tile.rows()) : null;
    List<LoopRef> order = new ArrayList<>(loops.subList(0, Math.max(0, rank - 2)));
    List<LoopRef> own = new ArrayList<>();
    if (y != null) {
      order.add(y.outer());
      own.add(y.inner());
    }
    order.add(x.outer());
    own.add(x.inner());
    int outer = order.size();
    order.addAll(own);
    s.reorder(order);
    for (FunctionBlocks.Entry each : inner.reversed()) {
      s.computeAt(new BlockRef(each.name()), x.outer());
    }
    LoopRef vector = threads(s, own, tile).getLast();
    if (tile.vector() > 1) {
      s.vectorize(vector);
    }
    List<LoopRef> steps = new ArrayList<>();
    for (int i = 0; i < inner.size(); i++) {
      steps.add(inner(s, inner.get(i), outer, tile, depth, staged.get(i)));
    }
    s.bind(x.outer(), ThreadAxis.BLOCK_X);
    if (y != null) {
      s.bind(y.outer(), ThreadAxis.BLOCK_Y);
    }
    if (rank > 2) {
      s.bind(ThreadLoops.fuse(s, order.subList(0, rank - 2)), ThreadAxis.BLOCK_Z);
    }
    s.compactAll();
    for (int i = 0; i < inner.size(); i++) {
      if (inner.get(i).reduces()) {
        s.decomposeReduction(new BlockRef(inner.get(i).name()), steps.get(i));
      }
    }
    return s;
  }

  private static Tile tile(Decisions decisions, boolean two) {
    long threadsX = decisions.choose("threadsX", two ? 16 : 128, 32, 64, 8, 256);
    long threadsY = two ? decisions.choose("threadsY", 16, 8, 4, 32, 1) : 1;
    long rows = two ? decisions.choose("rows", 4, 1, 2, 8) : 1;
    long vector = decisions.choose("vector", 1, 4, 2);
    long columns = vector * decisions.choose("vectors", 1, 2, 4);
    Tile tile = new Tile(threadsY, threadsX, rows, columns, vector);
    if (tile.threads() > MOST_THREADS || tile.threads() % WARP != 0) {
      throw new Rejected("threads", tile.threads() + " threads in a block");
    }
    return tile;
  }

  /** What a sum reads, in shared memory. */
  private static List<BlockRef> staged(Schedule s, FunctionBlocks.Entry sum) {
    return sum.read().stream()
        .filter(buffer -> buffer.rank() > 0)
        .map(b -> s.cacheRead(new BufferRef(b.name()), Scope.SHARED, new BlockRef(sum.name())))
        .toList();
  }

  /**
   * What is computed for a tile, by the threads whose elements it is.
   *
   * @param outer number of loops over tiles
   * @return the loop over the steps of a sum; any other for what sums nothing up
   */
  private static LoopRef inner(
      Schedule s,
      FunctionBlocks.Entry entry,
      int outer,
      Tile tile,
      long depth,
      List<BlockRef> staged) {
    BlockRef block = new BlockRef(entry.name());
    List<LoopRef> loops = s.loops(block);
    List<LoopRef> within = loops.subList(outer, loops.size());
    List<LoopRef> own = new ArrayList<>();
    List<Var> dimensions = entry.dimensions();
    for (Var v : dimensions.subList(Math.max(0, dimensions.size() - 2), dimensions.size())) {
      own.add(FunctionBlocks.loop(s.func(), entry.name(), v, within));
    }
    if (!entry.reduces()) {
      List<LoopRef> order = new ArrayList<>(within);
      order.removeAll(own);
      order.addAll(own);
      s.reorder(order);
      threads(s, own, tile);
      return own.getFirst();
    }
    List<LoopRef> reduced = new ArrayList<>();
    for (Var v : entry.reduced()) {
      reduced.add(FunctionBlocks.loop(s.func(), entry.name(), v, within));
    }
    List<LoopRef> others = new ArrayList<>(within);
    others.removeAll(own);
    others.removeAll(reduced);
    Schedule.Halves k = s.split(reduced.getFirst(), depth);
    List<LoopRef> order = new ArrayList<>(others);
    order.add(k.outer());
    order.addAll(own);
    order.addAll(reduced.subList(1, reduced.size()));
    order.add(k.inner());
    s.reorder(order);
    List<LoopRef> elements = threads(s, own, tile);
    List<LoopRef> last = new ArrayList<>(reduced.subList(1, reduced.size()));
    last.add(k.inner());
    last.addAll(elements);
    s.reorder(last);
    s.unroll(k.inner());
    s.unroll(elements.getLast());
    for (BlockRef copy : staged) {
      s.computeAt(copy, k.outer());
      List<LoopRef> copied = s.loops(copy);
      int around = s.loops(block).indexOf(k.outer()) + 1;
      ThreadLoops.together(s, copied.subList(around, copied.size()), tile.threads(), 1);
    }
    return k.outer();
  }

  /** Shares the loops over a tile out; what is left of them, of which the last is not unrolled. */
  private static List<LoopRef> threads(Schedule s, List<LoopRef> own, Tile tile) {
    List<LoopRef> threads = new ArrayList<>();
    List<LoopRef> elements = new ArrayList<>();
    if (own.size() > 1) {
      Schedule.Halves rows = s.split(own.getFirst(), tile.rows());
      threads.add(rows.outer());
      elements.add(rows.inner());
    }
    Schedule.Halves groups = s.split(own.getLast(), tile.threadsX() * tile.vector());
    Schedule.Halves lanes = s.split(groups.inner(), tile.vector());
    threads.add(lanes.outer());
    elements.add(groups.outer());
    elements.add(lanes.inner());
    List<LoopRef> order = new ArrayList<>(threads);
    order.addAll(elements);
    s.reorder(order);
    s.bind(ThreadLoops.fuse(s, threads), ThreadAxis.THREAD_X);
    elements.subList(0, elements.size() - 1).forEach(s::unroll);
    return elements;
  }
}
