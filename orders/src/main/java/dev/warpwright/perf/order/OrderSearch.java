package dev.warpwright.perf.order;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.order.BlockOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/**
 * Searches the order of tiles that moves the least.
 *
 * <p>Where {@link #exact} says so, the search is exact: A* over (computed tiles, contents of the
 * cache), not over permutations, and what it returns is proven unless time or memory ended first.
 * Elsewhere ready-made orders and bands are improved by simulated annealing; the lower bound then
 * is that of {@link OrderBounds}.
 */
public final class OrderSearch {
  /** More loads than this are not searched exactly. */
  private static final int MOST_LOADS = 120;

  /** Beyond so many tiles annealing comes first, so that the exact search has less to look at. */
  private static final int SMALL = 30;

  private static final int SMALL_CHAIN = 20;

  /** Heights of bands that are tried. */
  private static final int MOST_BANDS = 64;

  /**
   * Tiles and accesses of a problem that is searched: an order of so many takes a few seconds to
   * make, to play and to print, and every order that is tried is a list of all of them.
   */
  static final int MOST_ITEMS = 1 << 20;

  static final long MOST_ACCESSES = 1 << 22;

  /** Seconds past its end that a search gives its first order, without which it has no result. */
  private static final double GRACE_SECONDS = 2;

  private static final double FIRST_SHARE = 0.1;

  private static final double FIRST_SECONDS = 1;

  /**
   * What to search, and for how long.
   *
   * @param seed of the annealing
   * @param seconds after which the best order so far is returned
   */
  public record Request(TileProblem problem, CachePolicy policy, long seed, double seconds) {
    /**
     * Checks time and size.
     *
     * @throws UserError if there is no time, or the problem is too large to search
     */
    public Request {
      if (!(seconds > 0)) {
        throw new UserError("a search of " + seconds + " s: give it more than 0");
      }
      if (problem.items() > MOST_ITEMS || problem.accesses() > MOST_ACCESSES) {
        throw new UserError(
            String.format(
                Locale.ROOT,
                "a search among orders of %d tiles with %d accesses is too large: at most %d tiles"
                    + " and %d accesses; take a smaller grid (order score takes this one)",
                problem.items(),
                problem.accesses(),
                MOST_ITEMS,
                MOST_ACCESSES));
      }
    }
  }

  /**
   * What came out.
   *
   * @param path the best order
   * @param simulation of it, without steps
   * @param lowerBound no order has fewer loads
   * @param proven whether no order loads less
   * @param exact whether the exact search ran
   * @param states that the exact search looked at
   */
  public record Result(
      List<WorkItem> path,
      OrderSimulation simulation,
      long lowerBound,
      boolean proven,
      boolean exact,
      long states) {}

  private final Request request;
  private final SearchMonitor monitor;
  private final double grace;
  private final long end;

  /** What it takes to make and play an order, in nanoseconds. */
  private long oneOrder;

  private OrderSearch(Request request, SearchMonitor monitor, double grace) {
    this.request = request;
    this.monitor = monitor;
    this.grace = grace;
    this.end = System.nanoTime() + (long) (request.seconds() * 1e9);
  }

  /**
   * Whether the exact search takes this problem: blocks of one size, one tile at a time, and small.
   */
  public static boolean exact(TileProblem problem, CachePolicy policy) {
    if (problem.atOnce() != 1 || !problem.sizes().equals(TileProblem.Sizes.ONE)) {
      return false;
    }
    if (plain(problem)) {
      return switch (policy) {
        case OPTIMAL -> FreeStates.fits(problem.rows(), problem.columns());
        case LRU, FIFO ->
            QueueStates.fits(
                problem.rows(), problem.columns(), (int) Math.min(usefulCapacity(problem), 64));
      };
    }
    return switch (policy) {
      case OPTIMAL -> FreeChainStates.fits(problem);
      case LRU, FIFO -> QueueChainStates.fits(problem);
    };
  }

  /** One matmul, K in one block, results past the cache: states of its own are smaller. */
  private static boolean plain(TileProblem problem) {
    return problem.depth() == 1 && problem.chained() == 0 && !problem.cachedResults();
  }

  /**
   * Searches.
   *
   * @throws UserError if the cache cannot hold what one moment uses
   */
  public static Result search(Request request, SearchMonitor monitor) {
    return search(request, monitor, GRACE_SECONDS);
  }

  /**
   * @param grace seconds past the end that the first order may take
   */
  static Result search(Request request, SearchMonitor monitor, double grace) {
    return new OrderSearch(request, monitor, grace).run();
  }

  /** Loads that no order can go below, as the exact search and the result state it. */
  private long bound() {
    return OrderBounds.loads(request.problem());
  }

  private Result run() {
    TileProblem problem = request.problem();
    Candidate known = readyMade();
    List<WorkItem> best = known.order();
    boolean exact = exact(problem, request.policy());
    boolean anneals = !exact || problem.items() > (plain(problem) ? SMALL : SMALL_CHAIN);
    if (anneals && isTimeForOne()) {
      double first = Math.min(FIRST_SECONDS, FIRST_SHARE * request.seconds());
      best = anneal(known, exact ? first : request.seconds());
    }
    OrderSimulation simulation = best == known.order() ? known.simulation() : simulate(best);
    // Every result is stored once, so that the least loads move the least; partial sums may be
    // stored more often, and what is proven of these is their loads.
    if (simulation.loads() == bound()) {
      return new Result(best, simulation, bound(), true, false, 0);
    }
    if (!exact || simulation.loads() > MOST_LOADS) {
      return new Result(best, simulation, bound(), false, false, 0);
    }
    ExactSearch.Outcome outcome =
        new ExactSearch(space(), (int) simulation.loads(), best, mostStates(), watched())
            .run((int) bound());
    if (outcome.path() != null) {
      best = outcome.path();
      simulation = simulate(best);
    }
    boolean proven = simulation.loads() == outcome.lowerBound();
    return new Result(best, simulation, outcome.lowerBound(), proven, true, outcome.states());
  }

  private SearchSpace space() {
    TileProblem problem = request.problem();
    if (!plain(problem)) {
      return switch (request.policy()) {
        case OPTIMAL -> new FreeChainStates(problem);
        case LRU -> new QueueChainStates(problem, true);
        case FIFO -> new QueueChainStates(problem, false);
      };
    }
    int capacity = (int) usefulCapacity(problem);
    return switch (request.policy()) {
      case OPTIMAL -> new FreeStates(problem.rows(), problem.columns(), capacity);
      case LRU -> new QueueStates(problem.rows(), problem.columns(), capacity, true);
      case FIFO -> new QueueStates(problem.rows(), problem.columns(), capacity, false);
    };
  }

  private static long usefulCapacity(TileProblem problem) {
    return Math.min(problem.capacity(), (long) problem.rows() + problem.columns());
  }

  /** A state takes some 40 bytes while tables grow; half of the heap may go there. */
  private static long mostStates() {
    return Math.min(1 << 29, Runtime.getRuntime().maxMemory() / 80);
  }

  private SearchMonitor watched() {
    return new SearchMonitor() {
      @Override
      public boolean cancelled() {
        return System.nanoTime() > end || monitor.cancelled();
      }

      @Override
      public void progress(long states, long lowerBound, long loads, List<WorkItem> path) {
        monitor.progress(states, lowerBound, loads, path);
      }
    };
  }

  private record Candidate(List<WorkItem> order, OrderSimulation simulation) {}

  /**
   * The best of the ready-made orders and of bands as high as the cache allows, both ways. The
   * first may end a little late, the others are played while there is time for as long as it took.
   * Each is made when its turn comes: together they would not fit into memory.
   *
   * @throws UserError if not even the first is played in time
   */
  private Candidate readyMade() {
    TileProblem problem = request.problem();
    List<Supplier<List<WorkItem>>> orders = new ArrayList<>();
    for (String name : TileOrders.READY_MADE) {
      orders.add(() -> TileOrders.of(problem, BlockOrder.parse(name)));
    }
    if (problem.chained() > 0 && problem.atOnce() == 1) {
      TileProblem whole = problem.inParts(1);
      TileOrders.CHAINED.stream()
          .filter(name -> TileOrders.problem(whole, name).equals(whole))
          .forEach(
              name -> orders.add(() -> TileOrders.inParts(problem, TileOrders.of(whole, name))));
    }
    if (problem.chained() > 0) {
      for (int height = 1; height <= Math.min(problem.rows(), MOST_BANDS); height++) {
        int band = height;
        orders.add(() -> TileOrders.inParts(problem, fused(problem, band)));
        if (problem.parts() > 1) {
          orders.add(() -> ChainOrders.partial(problem, band));
        }
      }
    } else {
      int highest = (int) Math.min(problem.capacity(), Math.max(problem.rows(), problem.columns()));
      for (int height = 1; height <= Math.min(highest, MOST_BANDS); height++) {
        int band = height;
        orders.add(() -> bands(problem.rows(), problem.columns(), band, false));
        orders.add(() -> bands(problem.columns(), problem.rows(), band, true));
      }
    }
    long begin = System.nanoTime();
    List<WorkItem> first = TileOrders.settled(problem, orders.getFirst().get());
    long last = end + (long) (grace * 1e9);
    OrderSimulation played =
        OrderSimulation.runUnless(
            () -> System.nanoTime() - last > 0, problem, first, request.policy());
    if (played == null) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "a single order of %d tiles takes longer to play than the %s s of the search: give it"
                  + " more seconds, or a smaller grid",
              problem.items(),
              request.seconds()));
    }
    Candidate best = new Candidate(first, played);
    oneOrder = System.nanoTime() - begin;
    SearchMonitor watched = watched();
    for (Supplier<List<WorkItem>> order : orders.subList(1, orders.size())) {
      if (watched.cancelled() || !isTimeForOne()) {
        return best;
      }
      List<WorkItem> items = TileOrders.settled(problem, order.get());
      if (problem.problemWith(items, true) != null) {
        continue;
      }
      OrderSimulation simulation =
          OrderSimulation.runUnless(watched::cancelled, problem, items, request.policy());
      if (simulation != null && simulation.movedSize() < best.simulation().movedSize()) {
        best = new Candidate(items, simulation);
      }
    }
    return best;
  }

  /**
   * Whether another order can be made and played: where that takes seconds it must not be begun
   * with less than that left.
   */
  private boolean isTimeForOne() {
    return end - System.nanoTime() > oneOrder;
  }

  /** Bands of rows, each through both matmuls. */
  private static List<WorkItem> fused(TileProblem problem, int band) {
    List<WorkItem> items = new ArrayList<>();
    boolean right = true;
    for (int top = 0; top < problem.rows(); top += band) {
      int height = Math.min(band, problem.rows() - top);
      for (int gemm = 0; gemm <= 1; gemm++) {
        int width = gemm == 0 ? problem.columns() : problem.chained();
        for (int i = 0; i < width; i++) {
          for (int m = top; m < top + height; m++) {
            items.add(new WorkItem(gemm, m, right ? i : width - 1 - i));
          }
        }
      }
      right = !right;
    }
    return items;
  }

  /** Bands of rows; columns run to and fro from band to band, and rows from column to column. */
  private static List<WorkItem> bands(int rows, int columns, int band, boolean transposed) {
    List<WorkItem> items = new ArrayList<>();
    boolean right = true;
    boolean down = true;
    for (int top = 0; top < rows; top += band) {
      int height = Math.min(band, rows - top);
      for (int i = 0; i < columns; i++) {
        int n = right ? i : columns - 1 - i;
        for (int j = 0; j < height; j++) {
          int m = top + (down ? j : height - 1 - j);
          items.add(transposed ? new WorkItem(0, n, m) : new WorkItem(0, m, n));
        }
        down = !down;
      }
      right = !right;
    }
    return items;
  }

  private List<WorkItem> anneal(Candidate first, double seconds) {
    long stop = Math.min(end, System.nanoTime() + (long) (seconds * 1e9));
    var annealing =
        new Annealing(request.problem(), request.policy(), request.seed(), bound(), monitor);
    return annealing.run(first.order(), first.simulation(), stop);
  }

  private OrderSimulation simulate(List<WorkItem> order) {
    return OrderSimulation.run(request.problem(), order, request.policy(), false);
  }
}
