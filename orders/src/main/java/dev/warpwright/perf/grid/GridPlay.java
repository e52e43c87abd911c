package dev.warpwright.perf.grid;

import dev.warpwright.families.TileTimes;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.perf.order.TileProblem;
import dev.warpwright.perf.order.WorkItem;
import dev.warpwright.perf.predict.L2Number;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;

/**
 * Plays a persistent kernel from event to event. Blocks that share an SM slow each other down, and
 * all share L2, device memory and power, so the rate of a step changes whenever someone begins,
 * waits or ends: blocks with as many others on their SM are equally fast, and have a clock in steps
 * in common.
 */
final class GridPlay {
  /** Spreads SMs over the halves of L2, and items over the spread of their times. */
  private static final int SPREAD = 0x9E3779B9;

  /** What a block does. */
  private enum Phase {
    WAITS,
    BEGINS,
    STEPS,
    ENDS,
    OFF
  }

  private static final int NONE = -1;

  /** Changes of what is missing that change no time. */
  private static final double EXACT = 1e-3;

  private final PersistentGrid grid;
  private final TileProblem problem;
  private final WorkItem[] items;
  private final TileTimes times;

  /** Items take up to so much more or less time than they should. */
  private final double unevenness;

  /** And so much more where all that they read comes from device memory. */
  private final double fetching;

  /** The part of a half's first reads of what the other half has that count as misses. */
  private final double across;

  private final int blocks;
  private final LeastRecent cache;

  private final Phase[] phase;
  private final int[] current;
  private final int[] next;
  private final int[] moment;

  /** When a block's phase is over: in its clock's steps in {@code STEPS}, otherwise in µs. */
  private final double[] due;

  private final double[] takenAt;
  private final double[] waitsSince;
  private final double[] waited;
  private final int[] working;
  private final double[] workedSince;
  private double worked;

  /** Steps that blocks with so many others on their SM have done since the beginning. */
  private final double[] clock;

  private final double[] stepUs;

  /** Blocks by when they are due: those that begin and end, then those in step by their sharing. */
  private final DueHeap[] queues;

  /** What the steps' times were computed for. */
  private double timedAsked = NONE;

  private double timedMissing;
  private double now;
  private int drawn;

  /** Of one step of all blocks that do steps. */
  private double asked;

  private int stepping;

  /** Bytes of device memory for each byte that is asked for, lately. */
  private double missing = 1;

  private final int[] counters;

  /** Tiles of the second GEMM of which a part has ended. */
  private final BitSet begun;

  private final List<GridRun.Span> spans = new ArrayList<>();

  GridPlay(PersistentGrid grid, double unevenness) {
    this.grid = grid;
    problem = grid.problem();
    items = grid.order().toArray(new WorkItem[0]);
    times = grid.times();
    this.unevenness = unevenness;
    fetching = GridNumber.of(grid.device()).at(GridNumber.FETCHING);
    across = L2Number.of(grid.device()).at(L2Number.ACROSS);
    blocks = grid.blocks();
    long[] sizes = new long[problem.blocks()];
    for (int i = 0; i < sizes.length; i++) {
      sizes[i] = problem.size(i);
    }
    cache = new LeastRecent(sizes, problem.capacity());
    phase = new Phase[blocks];
    Arrays.fill(phase, Phase.OFF);
    current = new int[blocks];
    next = new int[blocks];
    moment = new int[blocks];
    due = new double[blocks];
    takenAt = new double[blocks];
    waitsSince = new double[blocks];
    waited = new double[blocks];
    working = new int[grid.sms()];
    workedSince = new double[grid.sms()];
    clock = new double[times.perSm() + 1];
    stepUs = new double[times.perSm() + 1];
    queues = new DueHeap[times.perSm() + 1];
    Arrays.setAll(queues, i -> new DueHeap(due));
    counters =
        new int
            [switch (grid.waits().part()) {
              case TILE -> problem.rows() * problem.columns();
              case ROWS -> Math.ceilDiv(problem.rows(), grid.waits().rows()) * problem.parts();
              case GRID -> problem.parts();
            }];
    begun = new BitSet(problem.rows() * Math.max(1, problem.chained()));
  }

  GridRun play() {
    for (int block = 0; block < blocks; block++) {
      current[block] = grid.dealing() == Dealing.STRIDE ? stride(block) : draw();
    }
    for (int block = 0; block < blocks; block++) {
      begin(block);
    }
    int block = soonest();
    while (block != NONE) {
      step(block);
      block = soonest();
    }
    cache.flush();
    double all = now * blocks;
    double waiting = 0;
    double[] last = new double[grid.sms()];
    for (GridRun.Span span : spans) {
      waiting += span.waited();
      last[span.sm()] = span.ended();
    }
    double busy = Arrays.stream(last).sum();
    return new GridRun(
        now,
        spans,
        all == 0 ? 0 : waiting / all,
        all == 0 ? 0 : Math.max(0, busy - worked) / (now * grid.sms()),
        all == 0 ? 0 : 1 - busy / (now * grid.sms()),
        cache.read(),
        cache.stored(),
        cache.asked(),
        cache.read() + across * (cache.missed() - cache.read()),
        spans.size() == items.length ? null : deadlock());
  }

  private int sm(int block) {
    return block % grid.sms();
  }

  private int draw() {
    return drawn < items.length ? drawn++ : NONE;
  }

  private int stride(int item) {
    return item < items.length ? item : NONE;
  }

  /** The block whose phase is over first, when it is; {@code NONE} if all wait or are done. */
  private int soonest() {
    if (asked != timedAsked || Math.abs(missing - timedMissing) > EXACT) {
      for (int sharing = 1; sharing < stepUs.length; sharing++) {
        stepUs[sharing] = grid.stepUs(sharing, stepping, asked, asked * missing);
      }
      timedAsked = asked;
      timedMissing = missing;
    }
    int queue = NONE;
    double least = Double.POSITIVE_INFINITY;
    for (int i = 0; i < queues.length; i++) {
      if (!queues[i].isEmpty()) {
        double left = due[queues[i].first()];
        left = i == 0 ? left - now : (left - clock[i]) * stepUs[i];
        if (left < least) {
          least = left;
          queue = i;
        }
      }
    }
    if (queue == NONE) {
      return NONE;
    }
    double passed = Math.max(0, least);
    now += passed;
    for (int sharing = 1; sharing < clock.length; sharing++) {
      clock[sharing] += passed / stepUs[sharing];
    }
    int block = queues[queue].first();
    queues[queue].remove(block);
    return block;
  }

  /** A block goes on to what takes as long, in µs or in steps. */
  private void enter(int block, Phase what, double length) {
    phase[block] = what;
    int queue = what == Phase.STEPS ? working[sm(block)] : 0;
    due[block] = length + (queue == 0 ? now : clock[queue]);
    queues[queue].put(block);
  }

  /** What a block does when a phase of it is over. */
  private void step(int block) {
    switch (phase[block]) {
      case BEGINS -> moment(block);
      case STEPS -> {
        moment[block]++;
        if (moment[block] == problem.moments(items[current[block]])) {
          stepping(block, -1);
          enter(block, Phase.ENDS, times.endUs().get(working[sm(block)] - 1));
        } else {
          moment(block);
        }
      }
      case ENDS -> end(block);
      case WAITS, OFF -> throw new IllegalStateException("block " + block + " has nothing to do");
    }
  }

  /** A block comes to the item that it has. */
  private void begin(int block) {
    int item = current[block];
    next[block] =
        item == NONE
            ? NONE
            : switch (grid.dealing()) {
              case DRAWN_AHEAD -> draw();
              case DRAWN -> NONE;
              case STRIDE -> stride(item + blocks);
            };
    if (item == NONE) {
      phase[block] = Phase.OFF;
      return;
    }
    boolean first = now == 0;
    takenAt[block] = now;
    waited[block] = 0;
    moment[block] = 0;
    if (!isThere(block)) {
      phase[block] = Phase.WAITS;
      waitsSince[block] = now;
      return;
    }
    works(block, 1);
    enter(block, Phase.BEGINS, first || !times.ahead() ? times.beginUs() : 0);
  }

  /** Whether what a block's item reads next is there. */
  private boolean isThere(int block) {
    WorkItem item = items[current[block]];
    if (item.gemm() == 0) {
      return true;
    }
    return switch (grid.waits().part()) {
      case TILE ->
          counters[item.row() * problem.columns() + problem.partBegin(item.part()) + moment[block]]
              == 1;
      case ROWS, GRID -> counters[counter(item)] == ofBatch(item);
    };
  }

  /** What counts the tiles of the first GEMM that an item of the second waits for together. */
  private int counter(WorkItem item) {
    return batch(item) * problem.parts() + item.part();
  }

  /** The batch of rows of an item, which is waited for as a whole. */
  private int batch(WorkItem item) {
    return item.row() / rowsOfBatch();
  }

  private int rowsOfBatch() {
    return grid.waits().part() == WaitPolicy.Part.GRID ? problem.rows() : grid.waits().rows();
  }

  /** Tiles of the first GEMM in that batch, and in the item's part of its columns. */
  private int ofBatch(WorkItem item) {
    int rows = rowsOfBatch();
    return Math.min(rows, problem.rows() - batch(item) * rows) * problem.moments(item);
  }

  /** Reads the operands of the next moment, if they are there. */
  private void moment(int block) {
    WorkItem item = items[current[block]];
    boolean stepped = phase[block] == Phase.STEPS;
    if (!isThere(block)) {
      if (stepped) {
        stepping(block, -1);
      }
      works(block, -1);
      phase[block] = Phase.WAITS;
      waitsSince[block] = now;
      return;
    }
    int k = moment[block];
    int half = sm(block) * SPREAD >>> 31;
    int left = problem.left(item, k);
    int right = problem.right(item, k);
    long moved = cache.use(left, false, half) + cache.use(right, false, half);
    double all = problem.size(left) + problem.size(right);
    missing += (moved / all - missing) / (2 * blocks);
    if (!stepped) {
      stepping(block, 1);
    }
    enter(
        block,
        Phase.STEPS,
        grid.stepsEach(item) * (1 + unevenness * uneven(current[block]) + fetching * moved / all));
  }

  /** From -1 to 1, the same for the same item. */
  private static double uneven(int item) {
    return item * SPREAD / (double) (1L << 31);
  }

  /** A result is there: whoever waited for it goes on. */
  private void end(int block) {
    int number = current[block];
    WorkItem item = items[number];
    int half = sm(block) * SPREAD >>> 31;
    long moved = adds(item) ? cache.use(problem.result(item), false, half) : 0;
    moved += cache.use(problem.result(item), true, half);
    missing += moved / (double) problem.size(problem.result(item)) / (2 * blocks);
    works(block, -1);
    spans.add(new GridRun.Span(number, block, sm(block), takenAt[block], waited[block], now));
    if (item.gemm() == 0 && problem.chained() > 0) {
      counters[
          switch (grid.waits().part()) {
            case TILE -> item.row() * problem.columns() + item.column();
            case ROWS, GRID -> batch(item) * problem.parts() + problem.partOf(item.column());
          }]++;
      wake();
    }
    current[block] = grid.dealing() == Dealing.DRAWN ? draw() : next[block];
    begin(block);
  }

  /** Whether an item finds a partial sum of its tile; the next one of the tile will. */
  private boolean adds(WorkItem item) {
    int tile = item.row() * problem.chained() + item.column();
    boolean found = item.gemm() == 1 && begun.get(tile);
    if (item.gemm() == 1) {
      begun.set(tile);
    }
    return found;
  }

  private void wake() {
    for (int block = 0; block < blocks; block++) {
      if (phase[block] == Phase.WAITS && isThere(block)) {
        waited[block] += now - waitsSince[block];
        works(block, 1);
        enter(block, Phase.BEGINS, times.beginUs());
      }
    }
  }

  /** A block begins to work on its SM, or stops: the others there become slower or faster. */
  private void works(int block, int by) {
    int sm = sm(block);
    int before = working[sm];
    int after = before + by;
    if (before == 0) {
      workedSince[sm] = now;
    } else if (after == 0) {
      worked += now - workedSince[sm];
    }
    for (int other = sm; other < blocks; other += grid.sms()) {
      if (other != block && phase[other] == Phase.STEPS) {
        queues[before].remove(other);
        due[other] += clock[after] - clock[before];
        queues[after].put(other);
      }
    }
    working[sm] = after;
  }

  private void stepping(int block, int by) {
    WorkItem item = items[current[block]];
    int k = Math.min(moment[block], problem.moments(item) - 1);
    double bytes =
        (problem.size(problem.left(item, k)) + problem.size(problem.right(item, k)))
            / grid.stepsEach(item);
    stepping += by;
    asked = stepping == 0 ? 0 : asked + by * bytes;
  }

  /** Who waits for what: the waiting block that came first, and who has what it waits for. */
  private String deadlock() {
    for (int block = 0; block < blocks; block++) {
      if (phase[block] == Phase.WAITS) {
        WorkItem item = items[current[block]];
        return String.format(
            Locale.ROOT,
            "block %d waits for %s with tile (%d, %d) of the second GEMM; %s",
            block,
            awaited(item, block),
            item.row(),
            item.column(),
            culprit(item));
      }
    }
    return "not all tiles were taken";
  }

  private String awaited(WorkItem item, int block) {
    return switch (grid.waits().part()) {
      case TILE ->
          "tile ("
              + item.row()
              + ", "
              + (problem.partBegin(item.part()) + moment[block])
              + ") of the first";
      case ROWS ->
          (grid.waits().rows() == 1 ? "row " : "the rows of row ")
              + item.row()
              + " of the first, of which "
              + counters[counter(item)]
              + " of "
              + ofBatch(item)
              + " tiles are done,";
      case GRID -> "all of the first, of which " + counters[counter(item)] + " tiles are done,";
    };
  }

  private String culprit(WorkItem waiting) {
    boolean[] done = new boolean[items.length];
    spans.forEach(span -> done[span.item()] = true);
    for (int i = 0; i < items.length; i++) {
      WorkItem item = items[i];
      boolean awaited =
          item.gemm() == 0
              && batch(item) == batch(waiting)
              && problem.partOf(item.column()) == waiting.part();
      if (awaited && !done[i]) {
        String tile = "tile (" + item.row() + ", " + item.column() + ") of the first";
        int holder = holder(i);
        return holder == NONE
            ? tile + " is behind it in the order, and all blocks wait"
            : "block " + holder + ", which waits too, has " + tile + " behind that";
      }
    }
    return "what it waits for is nowhere in the order";
  }

  /** The block that an item is left to. */
  private int holder(int item) {
    if (grid.dealing() == Dealing.STRIDE) {
      return item % blocks;
    }
    for (int block = 0; block < blocks; block++) {
      if (next[block] == item && phase[block] == Phase.WAITS) {
        return block;
      }
    }
    return NONE;
  }
}
