package dev.warpwright.perf.analyze;

import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.Precision;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * What orders of tiles cost on a real device, as Nsight Compute counted it ({@code bench/orders.sh}
 * makes the figures): to be shown beside predictions, and to test them.
 */
public final class MeasuredOrders {
  private static final String FILE = "orders-h200.csv";

  /**
   * One combination, the mean of its launches, with cold caches.
   *
   * @param l2Bytes that SMs asked L2 for
   * @param hitRate the part of them that it had
   */
  public record Row(
      String kernel,
      GemmShape shape,
      Tiling tiling,
      BlockOrder order,
      double timeUs,
      double dramReadBytes,
      double dramWriteBytes,
      double l2Bytes,
      double hitRate) {
    /** Device memory, both ways. */
    public double dramBytes() {
      return dramReadBytes + dramWriteBytes;
    }
  }

  private MeasuredOrders() {}

  /** The device that was measured. */
  public static DeviceModel device() {
    return Gpus.find("h200");
  }

  /** All combinations, in the order of measurement. */
  public static List<Row> all() {
    Map<String, List<double[]>> launches = new LinkedHashMap<>();
    var stream = Objects.requireNonNull(MeasuredOrders.class.getResourceAsStream(FILE), FILE);
    try (var lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
      launches =
          lines
              .lines()
              .skip(1)
              .map(line -> line.split(","))
              .collect(
                  Collectors.groupingBy(
                      cells -> String.join(",", List.of(cells).subList(0, 5)),
                      LinkedHashMap::new,
                      Collectors.mapping(MeasuredOrders::counters, Collectors.toList())));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return launches.entrySet().stream().map(e -> row(e.getKey().split(","), e.getValue())).toList();
  }

  private static double[] counters(String[] cells) {
    double[] counters = new double[5];
    for (int i = 0; i < counters.length; i++) {
      counters[i] = Double.parseDouble(cells[6 + i]);
    }
    return counters;
  }

  private static Row row(String[] head, List<double[]> launches) {
    double[] mean = new double[5];
    for (int i = 0; i < mean.length; i++) {
      int counter = i;
      mean[i] = launches.stream().mapToDouble(l -> l[counter]).average().orElseThrow();
    }
    // In the one kernel a cluster of two computes 256 x 256, in the other each block 128 x 128.
    int side = head[0].endsWith("sm90") ? 256 : 128;
    return new Row(
        head[0],
        new GemmShape(
            Long.parseLong(head[1]),
            Long.parseLong(head[2]),
            Long.parseLong(head[3]),
            Precision.BF16),
        Tiling.of(side, side),
        BlockOrder.parse(head[4]),
        mean[0],
        mean[1],
        mean[2],
        mean[3] * 32,
        mean[4] / mean[3]);
  }
}
