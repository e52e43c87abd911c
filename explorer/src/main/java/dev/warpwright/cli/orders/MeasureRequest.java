package dev.warpwright.cli.orders;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.measure.orders.OrderMeasurement;
import dev.warpwright.measure.orders.OrderMeasurer;
import dev.warpwright.measure.orders.RecordedOrders;
import dev.warpwright.perf.analyze.Gpus;
import dev.warpwright.perf.order.OrderText;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.Precision;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Asks what orders cost on a device.
 *
 * @param gpu what the simulator simulates
 */
public record MeasureRequest(
    OrderMeasurer.Request what, From from, DeviceModel gpu, MeasureRequest.Files files) {
  /** Who answers. */
  public enum From {
    /** The GPU of this machine. */
    GPU,
    /** What was measured before and comes along. */
    RECORDED,
    /** The simulator. */
    SIMULATOR
  }

  /**
   * Where to write; null for nowhere.
   *
   * @param csv a row for each measurement
   * @param svg a picture of each timeline
   * @param timeline a row for each work item
   */
  public record Files(@Nullable Path csv, @Nullable Path svg, @Nullable Path timeline) {}

  private static final int LARGEST = 1_000_000;
  private static final int MOST_KERNELS = 64;
  private static final double COUNTER_SECONDS = 300;

  /**
   * Reads what a user gave.
   *
   * @param counters whether to count by Nsight Compute
   * @throws UserError that names the key
   */
  public static MeasureRequest of(KeyValues values, boolean counters, Files files) {
    var shape =
        new GemmShape(
            values.number("M", 1, LARGEST),
            values.number("N", 1, LARGEST),
            values.number("K", 1, LARGEST),
            Precision.parse(values.text("dtype", "bf16")));
    From from =
        switch (values.text("from", "gpu")) {
          case "gpu" -> From.GPU;
          case "recorded" -> From.RECORDED;
          case "simulator" -> From.SIMULATOR;
          default ->
              throw new UserError(
                  "from=" + values.text("from") + " is none of gpu, recorded and simulator");
        };
    String tiles = values.text("tile");
    String orders = values.text("order");
    String file = values.text("file");
    Integer line = file == null ? null : OrderRequest.line(values);
    if (orders != null && file != null) {
      throw new UserError("give order= or file=, not both");
    }
    DeviceModel gpu = Gpus.find(values.text("gpu", "h200"));
    long seed = values.number("seed", 0, Long.MAX_VALUE, 1);
    double seconds = values.seconds("seconds", COUNTER_SECONDS);
    values.finish("M, N, K, dtype, tile, order, file, line, from, gpu, seed, seconds");
    List<Tiling> tilings =
        tiles != null
            ? list(tiles, Tiling::parse)
            : from == From.RECORDED
                ? recorded(OrderMeasurement::tiling)
                : List.of(Tiling.of(128, 128));
    List<BlockOrder> all =
        file != null
            ? read(Path.of(file), line)
            : orders != null
                ? BlockOrder.parseAll(orders).stream().distinct().toList()
                : from == From.RECORDED
                    ? recorded(OrderMeasurement::order)
                    : BlockOrder.parseAll("row,grouped:8,hilbert");
    if (from != From.RECORDED) {
      tilings.forEach(tiling -> all.forEach(order -> check(shape, tiling, order)));
    }
    if (from != From.RECORDED && tilings.size() * all.size() > MOST_KERNELS) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "%d kernels to measure, at most %d at a time",
              tilings.size() * all.size(),
              MOST_KERNELS));
    }
    return new MeasureRequest(
        new OrderMeasurer.Request(shape, tilings, all, counters ? seconds : 0, seed),
        from,
        gpu,
        files);
  }

  /** A list of tiles has to be of the grid that a size of tiles makes. */
  private static void check(GemmShape shape, Tiling tiling, BlockOrder order) {
    if (order instanceof BlockOrder.Explicit) {
      try {
        var unused =
            order.tiles(
                (int) Math.ceilDiv(shape.m(), tiling.m()),
                (int) Math.ceilDiv(shape.n(), tiling.n()));
      } catch (UserError e) {
        throw new UserError("tile=" + tiling.text() + ": " + e.getMessage(), e);
      }
    }
  }

  /** Orders of a file, as lists of tiles; on a device all tiles that fit run at a time. */
  private static List<BlockOrder> read(Path file, @Nullable Integer line) {
    List<OrderText> texts = line == null ? OrderFile.all(file) : List.of(OrderFile.one(file, line));
    List<BlockOrder> orders = new ArrayList<>();
    for (OrderText text : texts) {
      if (text.items().stream().anyMatch(item -> item.gemm() != 0)) {
        throw new UserError(
            file + ": line " + text.line() + ": an order of two matmuls; one is measured");
      }
      orders.add(
          new BlockOrder.Explicit(
              text.items().stream()
                  .map(item -> new BlockOrder.Tile(item.row(), item.column()))
                  .toList()));
    }
    return orders;
  }

  private static <T> List<T> recorded(Function<OrderMeasurement, T> part) {
    return new RecordedOrders().all().stream().map(part).distinct().toList();
  }

  private static <T> List<T> list(String words, Function<String, T> parse) {
    return Arrays.stream(words.split(",", -1)).map(parse).distinct().toList();
  }
}
