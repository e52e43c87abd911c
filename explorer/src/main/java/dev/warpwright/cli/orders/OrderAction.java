package dev.warpwright.cli.orders;

import dev.warpwright.base.UserError;
import dev.warpwright.base.files.AtomicFile;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.output.Csv;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.perf.order.OrderBounds;
import dev.warpwright.perf.order.OrderSearch;
import dev.warpwright.perf.order.OrderSimulation;
import dev.warpwright.perf.order.OrderText;
import dev.warpwright.perf.order.SearchMonitor;
import dev.warpwright.perf.order.TileOrders;
import dev.warpwright.perf.order.TileProblem;
import dev.warpwright.perf.order.WorkItem;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;

/** Searches, shows and scores orders of tiles. */
public final class OrderAction implements Action<OrderRequest> {
  private static final long REPORT_NANOS = 2_000_000_000L;

  /** Steps that are printed; a file gets all. */
  private static final int MOST_LINES = 64;

  @Override
  public Report perform(OrderRequest request, Progress progress) {
    return switch (request.task()) {
      case SEARCH -> search(request, progress);
      case SHOW -> show(request);
      case SCORE -> score(request);
    };
  }

  private static Report search(OrderRequest request, Progress progress) {
    TileProblem problem = request.problem();
    boolean steps = request.files().csv() != null;
    if (steps) {
      OrderSimulation.checkDetails(problem, problem.items());
    }
    OrderSearch.Result result =
        OrderSearch.search(
            new OrderSearch.Request(
                problem, request.policy(), request.limits().seed(), request.limits().seconds()),
            new Told(progress));
    OrderSimulation run =
        steps
            ? OrderSimulation.run(problem, result.path(), request.policy(), true)
            : result.simulation();
    writeFiles(request, problem, result.path(), run);
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "%d loads%s, %s: %s",
            run.loads(),
            problem.cachedResults() ? " and " + run.stores() + " stores" : "",
            request.policy().text(),
            verdict(result)));
    lines.addAll(OrderDrawing.numbers(problem, result.path()));
    lines.add(OrderText.of(problem, result.path()).text());
    return new Report(true, String.join(System.lineSeparator(), lines), json(request, result));
  }

  private static String verdict(OrderSearch.Result result) {
    if (result.proven()) {
      return result.exact()
          ? "proven to be the least, after " + result.states() + " states"
          : "proven to be the least: it meets the lower bound";
    }
    return "the best found; no order loads less than "
        + result.lowerBound()
        + (result.exact() ? ", by " + result.states() + " states" : "");
  }

  /** The result of a search, as the command and the page give it. */
  public static Json.Members json(OrderRequest request, OrderSearch.Result result) {
    return head(request, request.problem())
        .with("loads", result.simulation().loads())
        .with("stores", result.simulation().stores())
        .with("lowerBound", result.lowerBound())
        .with("proven", result.proven())
        .with("exact", result.exact())
        .with("states", result.states())
        .with("path", OrderRequest.path(request.problem(), result.path()));
  }

  private static Json.Members head(OrderRequest request, TileProblem p) {
    return Json.object()
        .with("grid", Json.array(List.of(p.rows(), p.columns()), n -> Json.of((long) n)))
        .with("depth", p.depth())
        .with("chained", p.chained())
        .with("parts", p.parts())
        .with("capacity", p.capacity())
        .with("policy", request.policy().text())
        .with("results", p.cachedResults() ? "cached" : "past")
        .with("at", p.atOnce());
  }

  private static Report show(OrderRequest request) {
    Chosen chosen = order(request);
    TileProblem problem = chosen.problem();
    List<WorkItem> order = chosen.order();
    problem.check(order, true);
    OrderSimulation run = OrderSimulation.run(problem, order, request.policy(), true);
    writeFiles(request, problem, order, run);
    List<String> lines = new ArrayList<>(OrderDrawing.numbers(problem, order));
    lines.add("");
    for (int i = 0; i < Math.min(MOST_LINES, run.steps().size()); i++) {
      lines.add(line(problem, i, run.steps().get(i)));
    }
    if (run.steps().size() > MOST_LINES) {
      lines.add((run.steps().size() - MOST_LINES) + " more; --csv FILE has them all");
    }
    lines.add(
        String.format(
            Locale.ROOT,
            "%s: %d loads, %d hits, %d stores, %d of them at the end; no order loads less than %d",
            request.policy().text(),
            run.loads(),
            run.hits(),
            run.stores(),
            run.flushed(),
            OrderBounds.loads(problem)));
    Json json =
        totals(head(request, problem), run)
            .with("lowerBound", OrderBounds.loads(problem))
            .with("path", OrderRequest.path(problem, order))
            .with(
                "steps",
                Json.array(
                    run.steps(),
                    step ->
                        Json.object()
                            .with("loaded", names(problem, step.loaded()))
                            .with("hits", step.hits())
                            .with("evicted", names(problem, step.evicted()))
                            .with("stored", names(problem, step.stored()))
                            .with("contents", names(problem, step.contents()))));
    return new Report(true, String.join(System.lineSeparator(), lines), json);
  }

  private static Json.Members totals(Json.Members json, OrderSimulation run) {
    return json.with("loads", run.loads())
        .with("hits", run.hits())
        .with("stores", run.stores())
        .with("flushed", run.flushed());
  }

  private static Json names(TileProblem problem, List<Integer> blocks) {
    return Json.array(blocks, block -> Json.of(problem.name(block)));
  }

  private static String line(TileProblem problem, int number, OrderSimulation.Step step) {
    var tiles = new StringJoiner(" ");
    for (WorkItem item : step.items()) {
      tiles.add(
          (problem.chained() > 0 ? item.gemm() + ":" : "")
              + "("
              + item.row()
              + ","
              + item.column()
              + (problem.parts() > 1 && item.gemm() == 1 ? "," + item.part() : "")
              + ")");
    }
    return String.format(
        Locale.ROOT,
        "%4d  %-12s loads %-26s hits %-4d holds %s",
        number,
        tiles,
        brief(problem, step.loaded(), 4),
        step.hits(),
        brief(problem, step.contents(), 12));
  }

  private static String brief(TileProblem problem, List<Integer> blocks, int most) {
    if (blocks.isEmpty()) {
      return "-";
    }
    String text = String.join(" ", blocks.stream().limit(most).map(problem::name).toList());
    return blocks.size() > most ? text + " and " + (blocks.size() - most) + " more" : text;
  }

  private static Report score(OrderRequest request) {
    TileProblem problem = request.problem();
    Map<String, Chosen> orders = new LinkedHashMap<>();
    Path file = request.file();
    if (file != null && request.line() == null) {
      List<OrderText> all = OrderFile.all(file);
      for (OrderText each : all) {
        orders.put(
            all.size() == 1 ? file.toString() : file + ":" + each.line(), checked(request, each));
      }
    } else if (file != null || request.order() != null) {
      orders.put(
          request.order() != null ? request.order() : file + ":" + request.line(), order(request));
    } else {
      TileOrders.names(problem).forEach(name -> orders.put(name, named(problem, name)));
    }
    long bound = OrderBounds.loads(problem);
    long leastStores = problem.tiles();
    List<String> lines = new ArrayList<>();
    List<Json> scores = new ArrayList<>();
    var csv = new StringBuilder("order,loads,hits,stores,lowerBound\n");
    lines.add(
        String.format(
            Locale.ROOT,
            "%-14s %10s %10s %10s %10s %10s",
            "order",
            "loads",
            "of bound",
            "stores",
            "of bound",
            "hits"));
    orders.forEach(
        (name, chosen) -> {
          chosen.problem().check(chosen.order(), true);
          OrderSimulation run =
              OrderSimulation.run(chosen.problem(), chosen.order(), request.policy(), false);
          lines.add(
              String.format(
                  Locale.ROOT,
                  "%-14s %10d %9.2fx %10d %9.2fx %10d",
                  name,
                  run.loads(),
                  run.loads() / (double) bound,
                  run.stores(),
                  run.stores() / (double) leastStores,
                  run.hits()));
          csv.append(
              String.format(
                  Locale.ROOT,
                  "%s,%d,%d,%d,%d\n",
                  Csv.cell(name),
                  run.loads(),
                  run.hits(),
                  run.stores(),
                  bound));
          scores.add(
              totals(
                  Json.object().with("order", name).with("parts", chosen.problem().parts()), run));
        });
    lines.add(
        String.format(
            Locale.ROOT,
            "cache: %s (search: optimal unless policy= says otherwise); no order loads less than %d"
                + " blocks or stores less than %d",
            request.policy().text(),
            bound,
            leastStores));
    write(request.files().csv(), csv.toString());
    return new Report(
        true,
        String.join(System.lineSeparator(), lines),
        head(request, problem).with("lowerBound", bound).with("orders", new Json.Array(scores)));
  }

  /**
   * An order that was asked for.
   *
   * @param problem of which it is one: in as many parts as the order is
   */
  private record Chosen(TileProblem problem, List<WorkItem> order) {}

  private static Chosen named(TileProblem whole, String name) {
    TileProblem problem = TileOrders.problem(whole, name);
    return new Chosen(problem, TileOrders.of(problem, name));
  }

  private static Chosen order(OrderRequest request) {
    if (request.order() != null) {
      return named(request.problem(), request.order());
    }
    Path file = request.file();
    if (file == null) {
      throw new IllegalArgumentException("no order");
    }
    return checked(request, OrderFile.one(file, request.line()));
  }

  private static Chosen checked(OrderRequest request, OrderText text) {
    if (text.atOnce() != request.problem().atOnce()) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "%s: line %d: t1 = %d, but at=%d; give at=%d",
              request.file(),
              text.line(),
              text.atOnce(),
              request.problem().atOnce(),
              text.atOnce()));
    }
    return new Chosen(request.problem().inParts(text.parts()), text.items());
  }

  private static void writeFiles(
      OrderRequest request, TileProblem problem, List<WorkItem> order, OrderSimulation run) {
    write(request.files().csv(), steps(problem, run));
    if (request.files().svg() != null) {
      write(request.files().svg(), OrderDrawing.svg(problem, order));
    }
  }

  private static String steps(TileProblem problem, OrderSimulation run) {
    var csv = new StringBuilder("step,tiles,loaded,hits,evicted,stored,contents\n");
    for (int i = 0; i < run.steps().size(); i++) {
      OrderSimulation.Step step = run.steps().get(i);
      csv.append(i).append(',');
      csv.append(
          Csv.cell(
              String.join(
                  " ",
                  step.items().stream()
                      .map(
                          t ->
                              t.gemm()
                                  + ":"
                                  + t.row()
                                  + ":"
                                  + t.column()
                                  + (problem.parts() > 1 && t.gemm() == 1 ? ":" + t.part() : ""))
                      .toList())));
      csv.append(',').append(cell(problem, step.loaded())).append(',').append(step.hits());
      csv.append(',').append(cell(problem, step.evicted()));
      csv.append(',').append(cell(problem, step.stored()));
      csv.append(',').append(cell(problem, step.contents())).append('\n');
    }
    return csv.toString();
  }

  private static String cell(TileProblem problem, List<Integer> blocks) {
    return Csv.cell(String.join(" ", blocks.stream().map(problem::name).toList()));
  }

  private static void write(@org.jspecify.annotations.Nullable Path file, String text) {
    if (file != null) {
      AtomicFile.write(file, out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
    }
  }

  /** Tells a waiting user every other second how far a search is. */
  private static final class Told implements SearchMonitor {
    private final Progress progress;
    private long last = System.nanoTime();

    Told(Progress progress) {
      this.progress = progress;
    }

    @Override
    public void progress(long states, long lowerBound, long loads, List<WorkItem> path) {
      long now = System.nanoTime();
      if (now - last > REPORT_NANOS) {
        last = now;
        progress.say(
            String.format(
                Locale.ROOT, "%d states; between %d and %d loads", states, lowerBound, loads));
      }
    }
  }
}
