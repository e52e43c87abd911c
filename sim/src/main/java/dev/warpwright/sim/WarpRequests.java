package dev.warpwright.sim;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Collects what the lanes of a warp access in one statement, lane by lane, and counts it as the
 * warp's requests when the statement is over.
 */
final class WarpRequests {
  private static final int WIDEST = 16;

  /** Loads of an unrolled loop that are followed at the same time. */
  private static final int MOST_RUNS = 32;

  private final Counting counting;
  private final BlockRun block;
  private final List<Open> open = new ArrayList<>();
  private final Map<Counting.Site, List<Run>> runs = new LinkedHashMap<>();

  private static final class Open {
    private final Counting.Site site;
    private final long[] addresses = new long[32];
    private int lanes;
    private int bytes;
    private long storage;

    Open(Counting.Site site) {
      this.site = site;
    }
  }

  WarpRequests(Counting counting, BlockRun block) {
    this.counting = counting;
    this.block = block;
  }

  Counting counting() {
    return counting;
  }

  /**
   * A lane's access.
   *
   * @param lane a mask of one bit
   * @param storage bytes of the whole buffer
   */
  void access(Counting.Site site, int lane, long address, int bytes, long storage) {
    Open request = null;
    for (Open o : open) {
      if (o.site == site) {
        request = o;
      }
    }
    if (request == null) {
      request = new Open(site);
      open.add(request);
    }
    if ((request.lanes & lane) != 0) {
      count(request);
    }
    request.lanes |= lane;
    request.bytes = bytes;
    request.storage = storage;
    request.addresses[Integer.numberOfTrailingZeros(lane)] = address;
  }

  private void count(Open request) {
    if (request.lanes == 0) {
      return;
    }
    Counting.Site site = request.site;
    if (site.kind() == Counting.Kind.SHARED_LOAD && request.bytes < WIDEST) {
      List<Run> open = runs.computeIfAbsent(site, key -> new ArrayList<>());
      Run run = null;
      for (Run r : open) {
        if (r.continues(request)) {
          run = r;
        }
      }
      if (run == null) {
        if (open.size() == MOST_RUNS) {
          count(site, open.removeFirst());
        }
        run = new Run(request);
        open.add(run);
      }
      if (++run.elements * run.bytes == WIDEST) {
        open.remove(run);
        count(site, run);
      }
    } else {
      counting.request(
          site, block, request.addresses, request.lanes, request.bytes, request.storage);
    }
    request.lanes = 0;
  }

  /** A run in parts as wide as their alignment allows. */
  private void count(Counting.Site site, Run run) {
    int bytes = run.elements * run.bytes;
    long[] addresses = run.addresses.clone();
    for (int at = 0; at < bytes; ) {
      int width = WIDEST;
      while (width > run.bytes && (width > bytes - at || !aligned(addresses, run.lanes, width))) {
        width /= 2;
      }
      counting.request(site, block, addresses, run.lanes, width, run.storage);
      at += width;
      for (int lane = 0; lane < addresses.length; lane++) {
        addresses[lane] += width;
      }
    }
  }

  private static boolean aligned(long[] addresses, int lanes, int width) {
    for (int m = lanes; m != 0; m &= m - 1) {
      if (addresses[Integer.numberOfTrailingZeros(m)] % width != 0) {
        return false;
      }
    }
    return true;
  }

  /** The statement is over. */
  void finish() {
    open.forEach(this::count);
    open.clear();
  }

  /** The warp waits or ends: no compiler joins loads across that. */
  void finishRuns() {
    runs.forEach((site, open) -> open.forEach(run -> count(site, run)));
    runs.clear();
  }

  /** Loads of one place at ascending addresses, which compilers join when they unroll a loop. */
  private static final class Run {
    private final long[] addresses = new long[32];
    private final int lanes;
    private final int bytes;
    private final long storage;
    private int elements;

    boolean continues(Open request) {
      if (request.lanes != lanes || request.bytes != bytes) {
        return false;
      }
      for (int m = lanes; m != 0; m &= m - 1) {
        int lane = Integer.numberOfTrailingZeros(m);
        if (request.addresses[lane] != addresses[lane] + (long) elements * bytes) {
          return false;
        }
      }
      return true;
    }

    Run(Open request) {
      System.arraycopy(request.addresses, 0, addresses, 0, addresses.length);
      lanes = request.lanes;
      bytes = request.bytes;
      storage = request.storage;
    }
  }
}
