package dev.warpwright.perf.order;

import dev.warpwright.base.UserError;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What an order of tiles moves through a cache.
 *
 * @param loads blocks that were brought in, partial sums that are read back among them
 * @param loadedSize their size, in the problem's unit
 * @param hits accesses that found their block
 * @param stores results and partial sums that left, those that are written back at the end among
 *     them
 * @param storedSize their size
 * @param flushed how many of the stores happen at the end
 * @param steps in order; empty unless asked for
 */
public record OrderSimulation(
    long loads,
    long loadedSize,
    long hits,
    long stores,
    long storedSize,
    long flushed,
    List<Step> steps) {
  /** Blocks that the steps together may list. */
  private static final long MOST_CONTENTS = 1 << 25;

  /** Steps after which is asked whether to stop. */
  private static final int BETWEEN_LOOKS = 1024;

  /**
   * One step.
   *
   * @param items the tiles it computes
   * @param loaded blocks brought in
   * @param evicted blocks given up
   * @param stored results that left
   * @param contents of the cache after it: the order in which a policy looks at them, oldest first
   */
  public record Step(
      List<WorkItem> items,
      List<Integer> loaded,
      long hits,
      List<Integer> evicted,
      List<Integer> stored,
      List<Integer> contents) {}

  public OrderSimulation {
    steps = List.copyOf(steps);
  }

  /** Size of everything moved. */
  public long movedSize() {
    return loadedSize + storedSize;
  }

  /**
   * Plays an order.
   *
   * @param order may stop before all tiles are done
   * @param details whether to keep the steps
   * @throws UserError if the order is not one of the problem, or what a moment uses exceeds the
   *     capacity
   */
  public static OrderSimulation run(
      TileProblem problem, List<WorkItem> order, CachePolicy policy, boolean details) {
    problem.check(order, false);
    if (details) {
      checkDetails(problem, order.size());
    }
    OrderSimulation run = new Player(problem, order, policy, details, () -> false).play();
    return Objects.requireNonNull(run);
  }

  /**
   * Plays an order without steps, unless it takes too long.
   *
   * @param stop asked now and then
   * @return null if stopped
   */
  static @Nullable OrderSimulation runUnless(
      BooleanSupplier stop, TileProblem problem, List<WorkItem> order, CachePolicy policy) {
    problem.check(order, false);
    return new Player(problem, order, policy, false, stop).play();
  }

  /**
   * Checks that the steps of an order can be kept: each holds the contents of the cache.
   *
   * @param tiles of the order
   * @throws UserError if they are too many
   */
  public static void checkDetails(TileProblem problem, int tiles) {
    long steps = Math.ceilDiv(tiles, problem.atOnce());
    long contents = Math.min(problem.capacity(), problem.blocks());
    if (steps * contents > MOST_CONTENTS) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "%d steps with up to %d blocks in the cache are too many to list; at most %d blocks"
                  + " in all: take a smaller grid or capacity",
              steps,
              contents,
              MOST_CONTENTS));
    }
  }

  private static final class Player {
    private final TileProblem problem;
    private final List<WorkItem> order;
    private final CachePolicy policy;
    private final boolean details;
    private final AccessTrace trace;
    private final int[] nextUse;
    private final FarthestUse farthest;
    private final BooleanSupplier stop;

    /** A ring of cached blocks, oldest first; {@code NOWHERE} marks blocks that are not cached. */
    private static final int NOWHERE = -1;

    private final int[] younger;
    private final int[] older;
    private final int head;
    private final boolean[] dirty;
    private final int[] pinned;
    private long used;

    private long loads;
    private long loadedSize;
    private long hits;
    private long stores;
    private long storedSize;

    private List<Integer> loaded = new ArrayList<>();
    private List<Integer> evicted = new ArrayList<>();
    private List<Integer> stored = new ArrayList<>();

    Player(
        TileProblem problem,
        List<WorkItem> order,
        CachePolicy policy,
        boolean details,
        BooleanSupplier stop) {
      this.stop = stop;
      this.problem = problem;
      this.order = order;
      this.policy = policy;
      this.details = details;
      trace = AccessTrace.of(problem, order);
      int blocks = problem.blocks();
      nextUse = policy == CachePolicy.OPTIMAL ? trace.nextUses(blocks) : new int[0];
      younger = new int[blocks + 1];
      older = new int[blocks + 1];
      Arrays.fill(younger, NOWHERE);
      head = blocks;
      younger[head] = head;
      older[head] = head;
      dirty = new boolean[blocks];
      pinned = new int[blocks];
      Arrays.fill(pinned, -1);
      farthest = new FarthestUse(policy == CachePolicy.OPTIMAL ? blocks : 0);
    }

    @Nullable OrderSimulation play() {
      List<Step> steps = new ArrayList<>();
      int access = 0;
      for (int step = 0; step < trace.stepEnd().length; step++) {
        if (step % BETWEEN_LOOKS == BETWEEN_LOOKS - 1 && stop.getAsBoolean()) {
          return null;
        }
        long hitsBefore = hits;
        while (access < trace.stepEnd()[step]) {
          access = moment(access);
        }
        List<WorkItem> items =
            order.subList(
                step * problem.atOnce(), Math.min(order.size(), (step + 1) * problem.atOnce()));
        if (!problem.cachedResults()) {
          past(step, items);
        }
        if (details) {
          steps.add(
              new Step(
                  List.copyOf(items),
                  List.copyOf(loaded),
                  hits - hitsBefore,
                  List.copyOf(evicted),
                  List.copyOf(stored),
                  contents()));
          loaded = new ArrayList<>();
          evicted = new ArrayList<>();
          stored = new ArrayList<>();
        }
      }
      long before = stores;
      for (int block = younger[head]; block != head; block = younger[block]) {
        if (dirty[block]) {
          store(block);
        }
      }
      return new OrderSimulation(
          loads, loadedSize, hits, stores, storedSize, stores - before, steps);
    }

    /** Results that go past the cache: partial sums that are added to come past it, too. */
    private void past(int step, List<WorkItem> items) {
      for (int i = 0; i < items.size(); i++) {
        int block = problem.result(items.get(i));
        if (trace.adds().get(step * problem.atOnce() + i)) {
          load(block);
        }
        store(block);
      }
    }

    /** Makes the accesses of the moment that begins with this one; says where the next begins. */
    private int moment(int first) {
      int moment = trace.moment()[first];
      int end = first;
      while (end < trace.blocks().length && trace.moment()[end] == moment) {
        pinned[trace.blocks()[end]] = moment;
        end++;
      }
      for (int i = first; i < end; i++) {
        access(i, moment);
      }
      return end;
    }

    private void access(int i, int moment) {
      int block = trace.blocks()[i];
      boolean write = trace.written()[i];
      if (younger[block] != NOWHERE) {
        hits++;
        if (policy == CachePolicy.LRU) {
          unlink(block);
          append(block);
        }
      } else {
        long size = problem.size(block);
        while (used + size > problem.capacity()) {
          evict(moment);
        }
        used += size;
        append(block);
        if (trace.fetched()[i]) {
          load(block);
        }
      }
      if (write) {
        dirty[block] = true;
      }
      if (policy == CachePolicy.OPTIMAL) {
        farthest.use(block, nextUse[i]);
      }
    }

    private void evict(int moment) {
      int victim = policy == CachePolicy.OPTIMAL ? farthest(moment) : oldest(moment);
      if (victim == head) {
        throw new UserError(
            "a cache of capacity "
                + problem.capacity()
                + " cannot hold what is used at the same time; give it more"
                + (problem.atOnce() > 1 ? ", or compute fewer tiles at a time" : ""));
      }
      unlink(victim);
      younger[victim] = NOWHERE;
      used -= problem.size(victim);
      note(evicted, victim);
      if (dirty[victim]) {
        dirty[victim] = false;
        store(victim);
      }
    }

    /** The oldest block that this moment does not use; {@code head} if there is none. */
    private int oldest(int moment) {
      int block = younger[head];
      while (block != head && pinned[block] == moment) {
        block = younger[block];
      }
      return block;
    }

    /** The block used again last that this moment does not use; {@code head} if there is none. */
    private int farthest(int moment) {
      int victim = head;
      List<Integer> kept = new ArrayList<>();
      while (victim == head && !farthest.isEmpty()) {
        int block = farthest.poll();
        if (pinned[block] == moment) {
          kept.add(block);
        } else {
          victim = block;
        }
      }
      kept.forEach(farthest::put);
      return victim;
    }

    private void note(List<Integer> list, int block) {
      if (details) {
        list.add(block);
      }
    }

    private void load(int block) {
      loads++;
      loadedSize += problem.size(block);
      note(loaded, block);
    }

    private void store(int block) {
      stores++;
      storedSize += problem.size(block);
      note(stored, block);
    }

    private void append(int block) {
      int last = older[head];
      younger[last] = block;
      older[block] = last;
      younger[block] = head;
      older[head] = block;
    }

    private void unlink(int block) {
      younger[older[block]] = younger[block];
      older[younger[block]] = older[block];
    }

    private List<Integer> contents() {
      List<Integer> contents = new ArrayList<>();
      for (int block = younger[head]; block != head; block = younger[block]) {
        contents.add(block);
      }
      return contents;
    }
  }
}
