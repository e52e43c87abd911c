package dev.warpwright.cli.orders;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.orders.ChainMeasurer;
import dev.warpwright.measure.orders.ChainMeasurer.Named;
import dev.warpwright.perf.analyze.Gpus;
import dev.warpwright.perf.grid.PersistentGrid;
import dev.warpwright.perf.order.OrderText;
import dev.warpwright.perf.order.TileOrders;
import dev.warpwright.perf.order.TileProblem;
import dev.warpwright.perf.order.WorkItem;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.FfnWorkload;
import dev.warpwright.workload.Precision;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Asks what orders of two chained products in one grid cost.
 *
 * @param gpu what the simulator simulates, and what is predicted for without a GPU
 */
public record ChainMeasureRequest(
    ChainMeasurer.Request what, From from, DeviceModel gpu, @Nullable Path csv) {
  /** Where figures come from: a GPU here, the simulator, or the prediction alone. */
  public enum From {
    GPU("gpu"),
    SIMULATOR("simulator"),
    MODEL("model");

    private final String text;

    From(String text) {
      this.text = text;
    }

    private static From parse(String text) {
      for (From from : values()) {
        if (from.text.equals(text)) {
          return from;
        }
      }
      throw new UserError(
          "from="
              + text
              + " is none of gpu, simulator and model: of two GEMMs (N2=) nothing is recorded");
    }
  }

  private static final int LARGEST = 1_000_000;
  private static final int MOST_KERNELS = 32;
  private static final double COUNTER_SECONDS = 300;
  private static final String EXPLICIT = "explicit:";
  private static final Pattern TILE =
      Pattern.compile("(\\d{1,7}),(\\d{1,7}),([01])(?:,(\\d{1,3}))?");

  /** Whether words ask for two products. */
  public static boolean isOne(List<String> words) {
    return words.stream().anyMatch(word -> word.startsWith("N2="));
  }

  /**
   * Reads what a user gave.
   *
   * @param counters whether to count by Nsight Compute
   * @throws UserError that names the key
   */
  public static ChainMeasureRequest of(KeyValues values, boolean counters, @Nullable Path csv) {
    Precision type = Precision.parse(values.text("dtype", "bf16"));
    if (type != Precision.BF16 && type != Precision.F16) {
      throw new UserError("dtype=" + type.text() + ": orders are measured in bf16 and f16");
    }
    var first =
        new GemmShape(
            values.number("M", 1, LARGEST),
            values.number("N", 1, LARGEST),
            values.number("K", 1, LARGEST),
            type);
    long last = values.number("N2", 1, LARGEST);
    Tiling tiling = Tiling.parse(values.text("tile", "128x128"));
    From from = From.parse(values.text("from", "gpu"));
    DeviceModel gpu = Gpus.find(values.text("gpu", "h200"));
    String names = values.text("order");
    String file = values.text("file");
    Integer line = file == null ? null : OrderRequest.line(values);
    if (names != null && file != null) {
      throw new UserError("give order= or file=, not both");
    }
    List<WaitPolicy> waits =
        Arrays.stream(values.text("wait", "row").split(",", -1))
            .map(WaitPolicy::parse)
            .distinct()
            .toList();
    long seed = values.number("seed", 0, Long.MAX_VALUE, 1);
    double seconds = values.seconds("seconds", COUNTER_SECONDS);
    values.finish("M, N, K, N2, dtype, tile, order, file, line, wait, from, gpu, seed, seconds");
    // On a device tiles begin when a block is free and what they read is there: no steps.
    TileProblem problem = PersistentGrid.problem(first, last, tiling, gpu);
    List<Named> orders =
        file != null
            ? read(Path.of(file), line, problem)
            : names != null && names.startsWith(EXPLICIT)
                ? List.of(explicit(names, problem))
                : Arrays.stream((names == null ? "row,rows:1,rows:4" : names).split(",", -1))
                    .map(name -> named(name, problem))
                    .toList();
    if (orders.size() * waits.size() > MOST_KERNELS) {
      throw new UserError(
          orders.size() * waits.size() + " kernels to measure, at most " + MOST_KERNELS);
    }
    return new ChainMeasureRequest(
        new ChainMeasurer.Request(
            new FfnWorkload(
                first.m(),
                first.k(),
                first.n(),
                last,
                type == Precision.F16 ? DType.F16 : DType.BF16),
            tiling,
            orders,
            waits,
            counters ? seconds : 0,
            seed),
        from,
        gpu,
        csv);
  }

  private static Named named(String name, TileProblem problem) {
    TileOrders.check(name, true);
    return new Named(name, TileOrders.of(TileOrders.problem(problem, name), name));
  }

  /** {@code explicit:row,column,product;…}, product 0 or 1, and a part where K is in parts. */
  private static Named explicit(String text, TileProblem problem) {
    List<WorkItem> items = new ArrayList<>();
    for (String tile : text.substring(EXPLICIT.length()).split(";", -1)) {
      Matcher matcher = TILE.matcher(tile);
      if (!matcher.matches()) {
        throw new UserError(
            "order=explicit: tile "
                + items.size()
                + " is '"
                + tile
                + "'; write row,column,gemm with gemm 0 or 1, as explicit:0,0,0;0,0,1, and a part"
                + " behind it where K is in parts");
      }
      items.add(
          new WorkItem(
              Integer.parseInt(matcher.group(3)),
              Integer.parseInt(matcher.group(1)),
              Integer.parseInt(matcher.group(2)),
              matcher.group(4) == null ? 0 : Integer.parseInt(matcher.group(4))));
    }
    problem.inParts(TileOrders.parts(items)).check(items, true);
    return new Named("explicit", items);
  }

  private static List<Named> read(Path file, @Nullable Integer line, TileProblem problem) {
    List<Named> orders = new ArrayList<>();
    for (OrderText text : line == null ? OrderFile.all(file) : List.of(OrderFile.one(file, line))) {
      List<WorkItem> items = text.items();
      try {
        problem.inParts(text.parts()).check(items, true);
      } catch (UserError e) {
        throw new UserError(file + ": line " + text.line() + ": " + e.getMessage(), e);
      }
      orders.add(new Named("line " + text.line(), items));
    }
    return orders;
  }
}
