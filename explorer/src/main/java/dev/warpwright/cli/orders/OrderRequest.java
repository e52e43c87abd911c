package dev.warpwright.cli.orders;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.perf.order.CachePolicy;
import dev.warpwright.perf.order.TileOrders;
import dev.warpwright.perf.order.TileProblem;
import dev.warpwright.perf.order.WorkItem;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Asks for orders of tiles.
 *
 * @param problem in as many parts as are searched; of orders that are there, their own number holds
 * @param order the name of a ready-made one; null for all of them
 * @param file to read an order from; null for none
 * @param line of the file on which the order begins; null for the first one, or all where they are
 *     scored
 */
public record OrderRequest(
    Task task,
    TileProblem problem,
    CachePolicy policy,
    @Nullable String order,
    @Nullable Path file,
    @Nullable Integer line,
    Limits limits,
    Files files) {
  /** What to do. */
  public enum Task {
    SEARCH,
    SHOW,
    SCORE
  }

  /** Of a search. */
  public record Limits(double seconds, long seed) {}

  /** Where to write; null for nowhere. */
  public record Files(@Nullable Path csv, @Nullable Path svg) {}

  private static final Pattern GRID = Pattern.compile("(\\d{1,7})x(\\d{1,7})");

  /**
   * Reads what a user gave.
   *
   * @throws UserError that names the key
   */
  public static OrderRequest of(Task task, KeyValues values, Files files) {
    // Orders say themselves in how many parts they are; a search has to be told.
    TileProblem problem =
        task == Task.SEARCH
            ? problem(values).inParts((int) values.number("parts", 1, TileProblem.MOST, 1))
            : problem(values);
    CachePolicy policy =
        CachePolicy.parse(values.text("policy", task == Task.SEARCH ? "optimal" : "lru"));
    String order = task == Task.SEARCH ? null : values.text("order");
    String file = task == Task.SEARCH ? null : values.text("file");
    Integer line = file == null ? null : line(values);
    if (order != null && file != null) {
      throw new UserError("give order= or file=, not both");
    }
    if (task == Task.SHOW && order == null && file == null) {
      throw new UserError("order show needs order=hilbert or file=FILE");
    }
    if (order != null) {
      TileOrders.check(order, problem.chained() > 0);
    }
    var limits =
        task == Task.SEARCH
            ? new Limits(values.seconds("seconds", 30), values.number("seed", 0, Long.MAX_VALUE, 1))
            : new Limits(1, 1);
    values.finish(
        "grid, capacity, policy, depth, chained, results, at, "
            + (task == Task.SEARCH ? "parts, seconds, seed" : "order, file, line"));
    return new OrderRequest(
        task, problem, policy, order, file == null ? null : Path.of(file), line, limits, files);
  }

  /** Which order of a file; null if it is not said. */
  static @Nullable Integer line(KeyValues values) {
    return values.text("line") == null ? null : (int) values.number("line", 1, Integer.MAX_VALUE);
  }

  /** The tiles and the cache. */
  private static TileProblem problem(KeyValues values) {
    String grid = values.text("grid");
    if (grid == null) {
      throw new UserError("no grid; give grid=4x4, rows and columns of tiles");
    }
    Matcher matcher = GRID.matcher(grid);
    if (!matcher.matches()) {
      throw new UserError("grid=" + grid + ": write rows and columns of tiles, as grid=4x4");
    }
    String results = values.text("results", "past");
    if (!results.equals("past") && !results.equals("cached")) {
      throw new UserError(
          "results=" + results + ": results go past the cache or are cached; write past or cached");
    }
    return new TileProblem(
        Integer.parseInt(matcher.group(1)),
        Integer.parseInt(matcher.group(2)),
        (int) values.number("depth", 1, TileProblem.MOST, 1),
        (int) values.number("chained", 0, TileProblem.MOST, 0),
        results.equals("cached"),
        TileProblem.Sizes.ONE,
        values.number("capacity", 1, Integer.MAX_VALUE),
        (int) values.number("at", 1, TileProblem.MOST, 1));
  }

  /**
   * An order in the JSON form: [row, column], the matmul where there are two, and the part where
   * the second one's K is in parts.
   */
  public static Json path(TileProblem problem, List<WorkItem> order) {
    return Json.array(
        order,
        item ->
            Json.array(
                problem.chained() == 0
                    ? List.of(item.row(), item.column())
                    : problem.parts() == 1
                        ? List.of(item.row(), item.column(), item.gemm())
                        : List.of(item.row(), item.column(), item.gemm(), item.part()),
                number -> Json.of((long) number)));
  }
}
