package dev.warpwright.sim.counter;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Collects what the lanes of a warp access in one statement, lane by lane, and counts it as the
 * warp's requests when the statement is over.
 */
public final class WarpRequests {
  private static final int WIDEST = 16;

  /** Narrower elements are converted one by one. */
  private static final int NARROWEST = 4;

  /** Loads whose values are thought to stay in registers. */
  private static final int MOST_HELD = 16;

  /** Loads of an unrolled loop that are followed at the same time. */
  private static final int MOST_RUNS = 32;

  private final Counting counting;
  private final long cluster;
  private final List<Open> open = new ArrayList<>();
  private final List<Held> held = new ArrayList<>();
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

  public WarpRequests(Counting counting, long cluster) {
    this.counting = counting;
    this.cluster = cluster;
  }

  public Counting counting() {
    return counting;
  }

  /**
   * A lane's access.
   *
   * @param lane a mask of one bit
   * @param storage bytes of the whole buffer
   */
  public void access(Counting.Site site, int lane, long address, int bytes, long storage) {
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
    if (isHeld(request)) {
      request.lanes = 0;
      return;
    }
    Counting.Site site = request.site;
    if (site.kind() == Counting.Kind.SHARED_LOAD
        && request.bytes >= NARROWEST
        && request.bytes < WIDEST) {
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
          site, cluster, request.addresses, request.lanes, request.bytes, request.storage);
    }
    request.lanes = 0;
  }

  /**
   * Whether a register holds what a load asks for, because the same was loaded a moment ago and not
   * stored to since: compilers load it once, and before a loop in which it does not change.
   */
  private boolean isHeld(Open request) {
    int slot = request.site.slot();
    return switch (request.site.kind()) {
      case SHARED_LOAD, GLOBAL_LOAD -> {
        for (Held h : held) {
          if (h.is(request)) {
            yield true;
          }
        }
        if (held.size() == MOST_HELD) {
          held.removeFirst();
        }
        held.add(new Held(slot, request.lanes, request.bytes, request.addresses.clone()));
        yield false;
      }
      case SHARED_STORE, MATRIX_STORE, GLOBAL_STORE, ASYNC_LOAD, ASYNC_STORE -> {
        held.removeIf(h -> h.slot == slot);
        yield false;
      }
      case MATRIX_LOAD -> false;
    };
  }

  /** What a load has brought. */
  private record Held(int slot, int lanes, int bytes, long[] addresses) {
    boolean is(Open request) {
      if (request.site.slot() != slot || request.lanes != lanes || request.bytes != bytes) {
        return false;
      }
      for (int m = lanes; m != 0; m &= m - 1) {
        int lane = Integer.numberOfTrailingZeros(m);
        if (request.addresses[lane] != addresses[lane]) {
          return false;
        }
      }
      return true;
    }
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
      counting.request(site, cluster, addresses, run.lanes, width, run.storage);
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
  public void finish() {
    open.forEach(this::count);
    open.clear();
  }

  /** The warp waits or ends: nothing is known of memory any more. */
  public void forget() {
    finishRuns();
    held.clear();
  }

  /** The next loads are in another iteration of a loop, with which no compiler joins them. */
  public void finishRuns() {
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
