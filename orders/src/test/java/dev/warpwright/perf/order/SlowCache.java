package dev.warpwright.perf.order;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The package's model of a cache once more, straight from its words, with nothing but lists. */
final class SlowCache {
  /** A moment: blocks by name, whether it brings them in, and whether it writes. */
  record Moment(List<String> blocks, boolean read, boolean write) {}

  private record Cached(String block, boolean dirty) {}

  private final TileProblem problem;
  private final CachePolicy policy;
  private final List<Moment> moments = new ArrayList<>();
  private List<Cached> cache = new ArrayList<>();
  long loads;
  long loadedSize;
  long hits;
  long stores;
  long storedSize;

  SlowCache(TileProblem problem, List<WorkItem> order, CachePolicy policy) {
    this.problem = problem;
    this.policy = policy;
    List<String> direct = new ArrayList<>();
    List<String> readDirect = new ArrayList<>();
    Set<String> begun = new HashSet<>();
    for (int i = 0; i < order.size(); i += problem.atOnce()) {
      List<WorkItem> step = order.subList(i, Math.min(order.size(), i + problem.atOnce()));
      for (int k = 0; k < Math.max(problem.depth(), problem.columns()); k++) {
        List<String> used = new ArrayList<>();
        for (WorkItem item : step) {
          boolean first = item.gemm() == 0;
          int from = first ? 0 : item.part() * problem.columns() / problem.parts();
          int to =
              first ? problem.depth() : (item.part() + 1) * problem.columns() / problem.parts();
          if (from + k < to) {
            used.add((first ? "A" : "C") + item.row() + "," + (from + k));
            used.add((first ? "B" : "D") + (from + k) + "," + item.column());
          }
        }
        if (!used.isEmpty()) {
          moments.add(new Moment(used, true, false));
        }
      }
      for (WorkItem item : step) {
        String result = (item.gemm() == 0 ? "C" : "E") + item.row() + "," + item.column();
        boolean adds = !begun.add(result);
        if (problem.cachedResults()) {
          moments.add(new Moment(List.of(result), adds, true));
        } else {
          direct.add(result);
          if (adds) {
            readDirect.add(result);
          }
        }
      }
    }
    for (int i = 0; i < moments.size(); i++) {
      play(i);
    }
    direct.forEach(this::store);
    readDirect.forEach(this::load);
    cache.stream().filter(Cached::dirty).forEach(c -> store(c.block));
  }

  private void play(int now) {
    Moment moment = moments.get(now);
    for (String block : moment.blocks) {
      Cached found = cache.stream().filter(c -> c.block.equals(block)).findFirst().orElse(null);
      if (found == null) {
        while (used() + size(block) > problem.capacity()) {
          Cached victim = victim(now);
          cache.remove(victim);
          if (victim.dirty) {
            store(victim.block);
          }
        }
        cache.add(new Cached(block, moment.write));
        if (moment.read) {
          load(block);
        }
      } else {
        hits++;
        var changed = new Cached(block, found.dirty || moment.write);
        if (policy == CachePolicy.LRU) {
          cache.remove(found);
          cache.add(changed);
        } else {
          cache = new ArrayList<>(cache.stream().map(c -> c == found ? changed : c).toList());
        }
      }
    }
  }

  private Cached victim(int now) {
    Set<String> pinned = new HashSet<>(moments.get(now).blocks);
    List<Cached> free = cache.stream().filter(c -> !pinned.contains(c.block)).toList();
    if (policy != CachePolicy.OPTIMAL) {
      return free.getFirst();
    }
    Cached best = null;
    int farthest = -1;
    for (Cached candidate : free) {
      int next = now + 1;
      while (next < moments.size() && !moments.get(next).blocks.contains(candidate.block)) {
        next++;
      }
      boolean never = next == moments.size();
      int distance = never ? Integer.MAX_VALUE : next;
      if (best == null
          || distance > farthest
          || distance == farthest && number(candidate.block) < number(best.block)) {
        best = candidate;
        farthest = distance;
      }
    }
    return best;
  }

  private void load(String block) {
    loads++;
    loadedSize += size(block);
  }

  private void store(String block) {
    stores++;
    storedSize += size(block);
  }

  private long used() {
    return cache.stream().mapToLong(c -> size(c.block)).sum();
  }

  private long size(String block) {
    TileProblem.Sizes s = problem.sizes();
    return switch (block.charAt(0)) {
      case 'A' -> s.a();
      case 'B' -> s.b();
      case 'C' -> s.c();
      case 'D' -> s.d();
      default -> s.e();
    };
  }

  /** Ties between blocks go by matrix, row and column. */
  private static long number(String block) {
    String[] place = block.substring(1).split(",");
    return ((long) block.charAt(0) << 40)
        + (Long.parseLong(place[0]) << 20)
        + Long.parseLong(place[1]);
  }
}
