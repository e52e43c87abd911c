package dev.warpwright.cli.explore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.explorer.Endpoint;
import dev.warpwright.explorer.Jobs;
import dev.warpwright.measure.orders.RecordedOrders;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What the page is answered, without a browser. */
final class ExploreEndpointsTest {
  private final KernelFolder kernels = new KernelFolder(Path.of("../kernels"));
  private final Jobs jobs = new Jobs();
  private final ExploreEndpoints endpoints =
      new ExploreEndpoints(
          kernels,
          new TuningRuns(Path.of("no-such.db")),
          new TunedKernels(Path.of("no-such")),
          new MeasureEndpoints(
              MeasuringDevice.none("no GPU in this test"), new RecordedOrders(List.of()), jobs),
          jobs);

  private String get(String name, Map<String, String> parameters) {
    return Objects.requireNonNull(endpoints.readers().get(name), name).answer(parameters);
  }

  @Test
  void everyKernelOfTheFolderIsPrinted() {
    assertThat(kernels.names()).hasSizeGreaterThan(10);
    for (String name : kernels.names()) {
      assertThat(get("kernel", Map.of("name", name))).as(name).contains("__global__");
    }
  }

  @Test
  void theLeastLoadsOfSomeCapacitiesAreProven() throws InterruptedException {
    Endpoint optima = Objects.requireNonNull(endpoints.actors().get("optima"));
    String started =
        optima.answer(Map.of("grid", "3x3", "policy", "lru", "capacities", "3 6", "at", "1"));
    String id = started.replaceAll("\\D", "");
    String status = jobs.status(id);
    while (status.contains("\"running\": true")) {
      Thread.sleep(10);
      status = jobs.status(id);
    }
    assertThat(status)
        .contains("{\"loads\": 8, \"lowerBound\": 8, \"proven\": true}")
        .contains("{\"loads\": 6, \"lowerBound\": 6, \"proven\": true}");
    assertThatThrownBy(
            () -> optima.answer(Map.of("grid", "3x3", "capacities", "1 2 ".repeat(20).strip())))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("capacities: at most");
  }

  @Test
  void chainedOrdersArePlayedInTime() {
    Map<String, String> shape =
        Map.of("M", "512", "N", "1024", "K", "256", "N2", "256", "gpu", "h200");
    String row = get("chain", shape);
    assertThat(row)
        .contains("\"order\": \"row\"")
        .contains("\"order\": \"mixed:8\"")
        .contains("\"deadlock\": null")
        .contains("\"blocks\": 264");
    // Each of the 4 x (8 + 2) tiles is there.
    assertThat(row.substring(row.indexOf("\"events\"")).split("\\], \\[")).hasSize(40);
    Map<String, String> grid = new HashMap<>(shape);
    grid.put("wait", "grid");
    grid.put("order", "rows:1");
    grid.put("M", "8192");
    grid.put("N2", "1024");
    assertThat(get("chain", grid)).contains("waits for all of the first");
    assertThat(
            get("chain", Map.of("M", "512", "N", "1024", "K", "256", "N2", "256", "wait", "tile")))
        .contains("\"wait\": \"tile\"");
    Map<String, String> large = new HashMap<>(shape);
    large.put("M", "100000");
    large.put("N", "100000");
    assertThatThrownBy(() -> get("chain", large)).isInstanceOf(UserError.class);
  }

  /** A product never gets faster by becoming larger. */
  @Test
  void theStaircaseNeverFalls() {
    for (String along : List.of("M", "N", "K")) {
      String json =
          get(
              "staircase",
              Map.of("M", "64", "N", "4096", "K", "4096", "along", along, "last", "2048"));
      double before = 0;
      for (String time : json.split("\"timeUs\": ")) {
        if (time.matches("(?s)\\d.*")) {
          double us = Double.parseDouble(time.substring(0, time.indexOf(',')));
          assertThat(us).as(along).isGreaterThanOrEqualTo(before);
          before = us;
        }
      }
      assertThat(before).isPositive();
    }
  }
}
