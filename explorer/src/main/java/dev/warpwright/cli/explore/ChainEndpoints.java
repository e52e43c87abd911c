package dev.warpwright.cli.explore;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.orders.ChainMeasureRequest;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.measure.orders.ChainKernels;
import dev.warpwright.measure.orders.ChainMeasurer;
import dev.warpwright.perf.grid.GridRun;
import dev.warpwright.perf.grid.PersistentGrid;
import dev.warpwright.perf.order.WorkItem;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Two chained GEMMs in one kernel, played in time, as the page asks for them. */
final class ChainEndpoints {
  /** Ready-made orders that are looked at beside each other. */
  private static final String ORDERS =
      "row,column,grouped:8,rows:1,rows:4,rows:8,halves,mixed:1,mixed:8";

  /** More tiles than this are too many to draw. */
  private static final int MOST_DRAWN = 20_000;

  /** More than this are too many to be played in all orders while somebody waits. */
  private static final int MOST_PLAYED = 40_000;

  /**
   * An order as it went.
   *
   * @param refusal why no kernel waits so in this order; null if one does
   */
  private record Played(
      ChainMeasurer.Named order, PersistentGrid grid, GridRun run, @Nullable String refusal) {
    static Played of(ChainMeasureRequest request, ChainMeasurer.Named order) {
      ChainMeasurer.Request what = request.what();
      WaitPolicy waits = what.waits().getFirst();
      PersistentGrid grid =
          ChainKernels.grid(what.workload(), what.tiling(), order.items(), waits, request.gpu());
      return new Played(
          order,
          grid,
          grid.run(),
          ChainKernels.refusal(what.workload(), what.tiling(), order.items(), waits));
    }

    /** Why it does not come to an end; null if it does. */
    @Nullable String deadlock() {
      return run.deadlock() == null ? refusal : run.deadlock();
    }
  }

  private ChainEndpoints() {}

  /** All orders, and when which block had which tile in the one that is asked for. */
  static Json chain(Map<String, String> parameters) {
    List<String> words = new ArrayList<>(List.of("from=model", "order=" + ORDERS));
    parameters.forEach(
        (key, value) -> {
          if (!key.equals("order") && !key.equals("from") && !value.isEmpty()) {
            words.add(key + "=" + value);
          }
        });
    ChainMeasureRequest request = ChainMeasureRequest.of(new KeyValues(words), false, null);
    int tiles = request.what().orders().getFirst().items().size();
    if (tiles > MOST_PLAYED) {
      throw new UserError(
          tiles + " tiles are too many to be played in all orders, at most " + MOST_PLAYED);
    }
    List<Played> played =
        request.what().orders().parallelStream().map(order -> Played.of(request, order)).toList();
    String wanted = parameters.getOrDefault("order", "");
    Played best =
        played.stream()
            .filter(each -> each.deadlock() == null)
            .min(Comparator.comparingDouble(each -> each.run().timeUs()))
            .orElse(played.getFirst());
    Played shown =
        played.stream().filter(each -> each.order().name().equals(wanted)).findFirst().orElse(best);
    return Json.object()
        .with("gpu", request.gpu().name())
        .with("tile", request.what().tiling().text())
        .with("wait", request.what().waits().getFirst().text())
        .with("order", shown.order().name())
        .with("blocks", shown.grid().blocks())
        .with("timeUs", shown.run().timeUs())
        .with("orders", Json.array(played, ChainEndpoints::order))
        .with("events", events(shown));
  }

  private static Json order(Played played) {
    GridRun run = played.run();
    return Json.object()
        .with("order", played.order().name())
        .with("timeUs", run.timeUs())
        .with("waiting", run.waiting())
        .with("idle", run.idle())
        .with("dramBytes", run.dramBytes())
        .with("hitRate", run.hitRate())
        .with("deadlock", played.deadlock());
  }

  /**
   * Item, GEMM, row, column, block, SM, then µs: when it was taken, how long it waited, its end.
   */
  private static Json events(Played played) {
    List<GridRun.Span> spans = played.run().spans();
    return Json.array(
        spans.size() > MOST_DRAWN ? List.of() : spans,
        span -> {
          WorkItem item = played.grid().order().get(span.item());
          return Json.array(
              List.of(
                  (double) span.item(),
                  (double) item.gemm(),
                  (double) item.row(),
                  (double) item.column(),
                  (double) span.block(),
                  (double) span.sm(),
                  rounded(span.taken()),
                  rounded(span.waited()),
                  rounded(span.ended())),
              Json::of);
        });
  }

  private static double rounded(double us) {
    return Math.round(us * 100) / 100.0;
  }
}
