package dev.warpwright.cli.explore;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.orders.ChainMeasurer;
import dev.warpwright.measure.orders.OrderMeasurement;
import dev.warpwright.measure.orders.OrderMeasurer;
import dev.warpwright.measure.orders.SimulatedOrderMeasurer;
import dev.warpwright.perf.analyze.Gpus;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.workload.FfnWorkload;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** The view of a device. */
final class DevicePageTest extends PageTest {
  private static final GemmShape SHAPE = new GemmShape(512, 1024, 64, Precision.BF16);
  private static final List<OrderMeasurement> SIMULATED =
      new SimulatedOrderMeasurer(Gpus.find("h200"))
          .measure(
              new OrderMeasurer.Request(
                  SHAPE,
                  List.of(Tiling.of(128, 128)),
                  List.of(new BlockOrder.Row(), new BlockOrder.Hilbert()),
                  0,
                  1),
              new OrderMeasurer.Watcher() {
                @Override
                public boolean cancelled() {
                  return false;
                }

                @Override
                public void say(String line) {}
              });

  /** As the command says it; the figures are made up. */
  private static final String CHAIN =
      """
      {"workload": "", "tile": "128x128", "measurements": [{"order": "line 1", "wait": "row",
        "device": "Test", "relError": 0.001, "verified": true, "failure": null, "timeUs": 990,
        "ncu": {"timeUs": 1010, "dramReadBytes": 1.1e9, "dramWriteBytes": 1e8, "l2Bytes": 1e10,
        "hitRate": 0.75}, "idle": 0.25, "predicted": {"timeUs": 1100, "dramReadBytes": 8e8,
        "dramWriteBytes": 1e8, "l2Bytes": 1e10, "hitRate": 0.5}}]}
      """;

  private final AtomicReference<ChainMeasurer.Request> chain = new AtomicReference<>();
  private final AtomicReference<OrderMeasurer.Request> asked = new AtomicReference<>();

  /** A GPU whose measurements take until they are let go, or cancelled. */
  private final CountDownLatch done = new CountDownLatch(1);

  @Override
  MeasuringDevice device() {
    return new MeasuringDevice(
        "NVIDIA <i>Test",
        "",
        (request, watcher) -> {
          asked.set(request);
          watcher.say("128x128, row");
          try {
            while (!watcher.cancelled() && !done.await(20, TimeUnit.MILLISECONDS)) {
              watcher.say("128x128, row");
            }
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          return watcher.cancelled() ? List.of() : SIMULATED;
        },
        (request, watcher) -> {
          chain.set(request);
          return CHAIN;
        });
  }

  @Override
  List<OrderMeasurement> recorded() {
    return SIMULATED;
  }

  @Test
  @VisitsFirst
  void theDeviceViewShowsWhatWasMeasured() {
    visit(WIDE, "#device");
    page.getByText("Counters of ncu on an H200").waitFor();
    assertThat(page.locator("table.heat tbody tr").count()).isEqualTo(10);
    page.locator("table.heat button").first().click();
    assertThat(page.locator(".side h2").nth(1).textContent()).isEqualTo("64x64, row");
    page.getByLabel("M", new Page.GetByLabelOptions().setExact(true)).first().fill("1000");
    page.getByLabel("M", new Page.GetByLabelOptions().setExact(true))
        .first()
        .dispatchEvent("change");
    page.getByText("There is no measurement of this shape").waitFor();
  }

  @Test
  @VisitsFirst
  void whatWasRecordedIsShownWithItsTimeline() {
    visit(WIDE, "#device");
    page.getByText("Nothing is recorded of this shape").waitFor();
    page.getByText("512 × 1024 × 64").click();
    page.getByText("Recorded, not measured here").waitFor();
    assertThat(page.locator("[aria-label='On the GPU'] tbody tr").count()).isEqualTo(2);
    assertThat(page.locator(".timeline").getAttribute("aria-label"))
        .contains("32 SMs, 32 work items");
    Locator told = page.locator(".told");
    assertThat(told.textContent()).startsWith("Began as number 0: tile (0, 0)");
    Locator slider = page.getByLabel("Work item, as it began").last();
    slider.focus();
    page.keyboard().press("End");
    assertThat(told.textContent()).startsWith("Began as number 31: tile (3, 7), number 31");
    page.getByLabel("Timeline of").selectOption("1");
    slider.focus();
    page.keyboard().press("ArrowRight");
    assertThat(told.textContent()).startsWith("Began as number 1: tile (1, 0), number 1");
    page.locator(".timeline").click();
    assertThat(told.textContent()).startsWith("Began as number");
  }

  @Test
  @VisitsFirst
  void measuresOnAGpuAndIsCancelled() {
    visit(WIDE, "#device");
    page.getByText("512 × 1024 × 64").click();
    page.getByText("Recorded, not measured here").waitFor();
    page.locator("table.heat button").first().click();
    button("Measure this tile").click();
    page.getByText("Measuring: 128x128, row").waitFor();
    OrderMeasurer.Request request = asked.get();
    assertThat(request.shape()).isEqualTo(SHAPE);
    assertThat(request.tilings()).containsExactly(Tiling.of(64, 64));
    assertThat(request.counterSeconds()).isPositive();
    page.locator("[aria-label='On the GPU'] button").getByText("Cancel").click();
    page.getByText("Cancelled.").waitFor();
    page.getByLabel("count by ncu").uncheck();
    button("Measure this tile").click();
    done.countDown();
    page.getByText("Measured here, beside the prediction").waitFor();
    assertThat(asked.get().counterSeconds()).isZero();
    assertThat(page.locator(".timeline").count()).isEqualTo(1);
    assertThat(page.locator("i:text('Test')").count()).isZero();
  }

  /** Who waits when, in each order of two chained GEMMs; the address keeps what is shown. */
  @Test
  @VisitsFirst
  void chainedGemmsArePlayed() {
    visit(WIDE, "#device=M=2048&N=2048&K=256&dtype=bf16&gpu=h200");
    page.getByLabel("N of the second GEMM").fill("512");
    button("Play the orders").click();
    Locator card = page.locator("[aria-label='Two chained GEMMs']");
    card.getByText("H200 SXM, 128x128, waiting for its row of C").waitFor();
    assertThat(card.locator("tbody tr").count()).isEqualTo(9);
    assertThat(card.locator("tbody td:has-text('●')").count()).isEqualTo(1);
    card.getByText("rows:1", new Locator.GetByTextOptions().setExact(true)).click();
    card.getByText("Blocks by SM, rows:1").waitFor();
    assertThat(card.locator(".played").getAttribute("aria-label")).contains("320 tiles");
    // Waiting has one colour, and no other bars have it.
    assertThat(fillOf("waits")).isNotEqualTo(fillOf("gemm0")).isNotEqualTo(fillOf("gemm1"));
    assertThat(card.locator("path.waits").getAttribute("d")).startsWith("M");
    Locator slider = card.getByLabel("Tile, as it ended").last();
    slider.focus();
    page.keyboard().press("End");
    assertThat(card.locator(".told").textContent()).contains(") of E, number ");
    card.locator(".played").click();
    assertThat(card.locator(".told").textContent()).startsWith("Tile (");
    String shown = card.locator("tbody").textContent();
    String fragment = page.url().substring(page.url().indexOf('#'));
    assertThat(fragment).contains("n2=512").contains("pairOrder=rows%3A1");
    visit(NARROW, fragment);
    card = page.locator("[aria-label='Two chained GEMMs']");
    card.getByText("Blocks by SM, rows:1").waitFor();
    assertThat(card.locator("tbody").textContent()).isEqualTo(shown);
    assertThat(page.evaluate("document.documentElement.scrollWidth")).isEqualTo(NARROW);
    // So many tiles of E that all blocks may have one before the last of C is drawn.
    page.getByLabel("N of the second GEMM").fill("8192");
    page.getByLabel("A tile of E waits for").selectOption("grid");
    card.getByText("waits for all of the first").first().waitFor();
  }

  private Object fillOf(String bars) {
    return page.evaluate("getComputedStyle(document.querySelector('.played ." + bars + "')).fill");
  }

  /** From a board to the GPU: its order as it stands, tile by tile. */
  @Test
  void theOrderOfABoardIsMeasured() {
    done.countDown();
    visit(WIDE, "#preset=square-8192");
    for (String[] field :
        new String[][] {
          {"M", "512"}, {"N", "1024"}, {"K", "64"}, {"tile M", "128"}, {"tile N", "128"}
        }) {
      Locator input = page.locator("[data-name='" + field[0] + "']:visible").first();
      input.fill(field[1]);
      input.dispatchEvent("change");
    }
    page.getByLabel("Fill with a ready-made order").selectOption("hilbert");
    button("Measure this order").click();
    page.getByText("the result is verified").waitFor();
    OrderMeasurer.Request request = asked.get();
    assertThat(request.shape()).isEqualTo(SHAPE);
    assertThat(request.orders())
        .containsExactly(new BlockOrder.Explicit(new BlockOrder.Hilbert().tiles(4, 8)));
    // Two chained products go the same way; what is compared has one unit.
    for (String[] field : new String[][] {{"N of a second GEMM", "256"}}) {
      Locator input = page.locator("[data-name='" + field[0] + "']:visible").first();
      input.fill(field[1]);
      input.dispatchEvent("change");
    }
    page.getByLabel("Fill with a ready-made order").selectOption("rows:1");
    button("Measure this order").click();
    page.getByText("512 × 1024 × 64 × 256, bf16, on Test: the result is verified").waitFor();
    assertThat(page.locator("[aria-label='On the GPU']:visible tbody tr").allTextContents())
        .contains("one launch1.01 ms1.10 ms", "memory1.20 GB0.90 GB", "idle25 %–");
    assertThat(chain.get().workload()).isEqualTo(new FfnWorkload(512, 64, 1024, 256, DType.BF16));
    assertThat(chain.get().orders().getFirst().items()).hasSize(4 * (8 + 2));
    button("Reset").click();
    button("Measure this order").click();
    assertThat(message()).contains("the order is not complete");
  }
}
