package dev.warpwright.measure.orders;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.JsonFields;
import dev.warpwright.base.json.JsonParser;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.zip.GZIPInputStream;

/**
 * Measurements that were made before, on an H200, and come along: for those who have no GPU. What
 * was not recorded is not answered.
 */
public final class RecordedOrders implements OrderMeasurer {
  private static final String FILE = "recorded-h200.json.gz";

  private final List<OrderMeasurement> recorded;

  /** Those that come along. */
  public RecordedOrders() {
    this(Shipped.ALL);
  }

  /** These. */
  public RecordedOrders(List<OrderMeasurement> recorded) {
    this.recorded = List.copyOf(recorded);
  }

  /** Read when it is first needed. */
  private static final class Shipped {
    static final List<OrderMeasurement> ALL = read();

    private static List<OrderMeasurement> read() {
      try (InputStream in = RecordedOrders.class.getResourceAsStream(FILE)) {
        if (in == null) {
          throw new IllegalStateException(FILE + " is not in the jar");
        }
        return parse(
            FILE, new String(new GZIPInputStream(in).readAllBytes(), StandardCharsets.UTF_8));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /**
   * Reads {@code {"measurements": […]}}.
   *
   * @throws UserError if it is something else
   */
  public static List<OrderMeasurement> parse(String where, String text) {
    return JsonFields.of(where, JsonParser.parse(where, text))
        .list("measurements", MeasurementJson::read);
  }

  /** All there are. */
  public List<OrderMeasurement> all() {
    return recorded;
  }

  @Override
  public List<OrderMeasurement> measure(Request request, Watcher watcher) {
    List<OrderMeasurement> found =
        recorded.stream()
            .filter(m -> m.shape().equals(request.shape()))
            .filter(m -> request.tilings().contains(m.tiling()))
            .filter(m -> request.orders().contains(m.order()))
            .toList();
    if (found.isEmpty()) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "nothing is recorded of that; recorded are: %s",
              String.join(
                  ", ",
                  recorded.stream()
                      .map(
                          m ->
                              String.format(
                                  Locale.ROOT,
                                  "M=%d N=%d K=%d tile=%s",
                                  m.shape().m(),
                                  m.shape().n(),
                                  m.shape().k(),
                                  m.tiling().text()))
                      .distinct()
                      .toList())));
    }
    return found;
  }
}
