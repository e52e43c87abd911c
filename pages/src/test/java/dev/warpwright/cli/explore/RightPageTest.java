package dev.warpwright.cli.explore;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.microsoft.playwright.CDPSession;
import com.microsoft.playwright.Download;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.LoadState;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the page shows is of what is asked for now: late answers, saved boards, limits, bounds,
 * units.
 */
final class RightPageTest extends PageTest {
  private static final String SHAPE = "#preset=square-8192";

  /** Holds answers back whose request contains a text. */
  private List<Route> holding(String pattern, String text) {
    List<Route> late = new ArrayList<>();
    page.route(
        pattern,
        route -> {
          if (route.request().url().contains(text)) {
            late.add(route);
          } else {
            route.resume();
          }
        });
    return late;
  }

  private void letGo(List<Route> late, String pattern) {
    page.waitForCondition(() -> !late.isEmpty());
    page.waitForResponse(pattern, () -> late.removeFirst().resume()).finished();
    page.waitForTimeout(200);
  }

  @Test
  @VisitsFirst
  void theDeviceIsNamedHoweverLateItsNameComes() {
    visit(WIDE, "");
    List<Route> late = holding("**/api/devices?*", "devices");
    visit(WIDE, "");
    Locator orders = page.getByLabel("Ready-made orders");
    orders.getByText("108 tiles run at a time, and what they share is loaded once").waitFor();
    letGo(late, "**/api/devices?*");
    late.forEach(Route::resume);
    orders.getByText("108 tiles run at a time on the SMs of A100 SXM 80 GB").waitFor();
    assertThat(orders.textContent()).doesNotContain("108 tiles run at a time, and");
  }

  private Locator named(String label) {
    return page.locator("[data-name='" + label + "']:visible").first();
  }

  private void type(String label, String value) {
    Locator input = named(label);
    input.fill(value);
    input.dispatchEvent("change");
  }

  @Test
  @VisitsFirst
  void aLateAnswerChangesNothingOnTheDeviceView() {
    visit(WIDE, "#device=M=256&N=256&K=256");
    page.getByText("256 × 256 × 256, bf16: at least").waitFor();
    List<Route> late = holding("**/api/device?*", "M=4096");
    type("M", "4096");
    type("M", "512");
    page.getByText("512 × 256 × 256, bf16: at least").waitFor();
    letGo(late, "**/api/device?*");
    assertThat(page.getByText("512 × 256 × 256, bf16: at least").count()).isEqualTo(1);
    assertThat(page.getByText("4096 × 256 × 256").count()).isZero();
  }

  @Test
  @VisitsFirst
  void aLateAnswerChangesNothingOnTheRoofline() {
    visit(WIDE, "#roofline=kind=gemm&M=16&N=256&K=256&gpus=h200");
    page.getByText("gemm 16 x 256 x 256, bf16").waitFor();
    List<Route> late = holding("**/api/analyze?*", "M%3D4096");
    type("M", "4096");
    type("M", "32");
    page.getByText("gemm 32 x 256 x 256, bf16").waitFor();
    letGo(late, "**/api/analyze?*");
    assertThat(page.getByText("gemm 32 x 256 x 256, bf16").count()).isEqualTo(1);
    List<Route> stairs = holding("**/api/staircase?*", "along=N");
    Locator along = page.getByLabel("Along");
    along.selectOption("N");
    along.selectOption("K");
    page.getByText("4096 × 4096 × K").waitFor();
    letGo(stairs, "**/api/staircase?*");
    assertThat(page.getByText("4096 × 4096 × K").count()).isEqualTo(1);
  }

  /** A late failure is of no interest either. */
  @Test
  @VisitsFirst
  void aLateFailureSaysNothing() {
    visit(WIDE, "#device=M=256&N=256&K=256");
    page.getByText("256 × 256 × 256, bf16: at least").waitFor();
    List<Route> late = holding("**/api/device?*", "M=4096");
    type("M", "4096");
    type("M", "512");
    page.getByText("512 × 256 × 256, bf16: at least").waitFor();
    page.waitForCondition(() -> !late.isEmpty());
    late.removeFirst()
        .fulfill(new Route.FulfillOptions().setStatus(500).setBody("{\"error\": \"lost\"}"));
    page.waitForTimeout(200);
    assertThat(page.locator("#message.shown").count()).isZero();
  }

  private List<String> all() {
    List<String> shown = new ArrayList<>(page.locator(".board .figures dd").allTextContents());
    for (String label :
        List.of(
            "M",
            "N",
            "K",
            "tile M",
            "tile N",
            "tile K",
            "Cache, MB",
            "GPU",
            "Tiles at a time",
            "Step")) {
      shown.add(label + " " + named(label).inputValue());
    }
    return shown;
  }

  @Test
  @VisitsFirst
  void linksAndFilesRestoreAllOfABoard() throws IOException {
    visit(WIDE, SHAPE);
    type("M", "3000");
    named("GPU").selectOption("h200");
    page.getByLabel("Fill with a ready-made order").selectOption("hilbert");
    page.getByLabel("Which block a full cache gives up").selectOption("fifo");
    Locator step = named("Step");
    step.fill("2");
    List<String> before = all();
    assertThat(before)
        .contains("M 3000", "GPU h200", "Tiles at a time 132", "Cache, MB 62.915", "Step 2");
    button("Copy link").click();
    // The link is packed in the background.
    page.waitForCondition(() -> page.getByLabel("Link").inputValue().contains("#"));
    String link = page.getByLabel("Link").inputValue();
    Download board = page.waitForDownload(() -> button("Save").click());
    String saved = Files.readString(board.path());
    visit(WIDE, link.substring(link.indexOf('#')));
    page.waitForCondition(() -> all().equals(before));
    visit(WIDE, BLOCKS);
    load("board.json", saved);
    page.waitForCondition(() -> all().equals(before));
    // The address follows what is changed, a little later, and leads back to it.
    page.waitForTimeout(900);
    String earlier = page.url();
    page.getByLabel("Fill with a ready-made order").selectOption("column");
    List<String> changed = all();
    page.waitForCondition(() -> !page.url().equals(earlier));
    String address = page.url();
    visit(WIDE, address.substring(address.indexOf('#')));
    page.waitForCondition(() -> all().equals(changed));
  }

  @Test
  void figuresAreThoseOfTheStep() {
    page.getByLabel("Fill with a ready-made order").selectOption("row");
    String loads = figure("Loads");
    String moved = figure("Moved");
    Locator step = named("Step");
    step.fill("3");
    assertThat(figure("Loads")).startsWith("4 ").isNotEqualTo(loads);
    assertThat(figure("Hits")).startsWith("2 ");
    assertThat(figure("Moved")).startsWith("7 ").isNotEqualTo(moved);
    assertThat(figure("Tiles")).isEqualTo("3 / 36");
    step.fill("36");
    assertThat(figure("Loads")).isEqualTo(loads);
  }

  @Test
  @VisitsFirst
  void devicesWithoutTheTypeAreSkippedWithANote() {
    visit(WIDE, "#roofline=kind=gemm&dtype=e4m3&gpus=a100,h200");
    page.getByText("A100 SXM 80 GB is skipped: it multiplies no e4m3").waitFor();
    assertThat(page.locator(".chart .line").count()).isPositive();
  }

  @Test
  @VisitsFirst
  void fieldsKeepTheirLimits() {
    visit(WIDE, "#device=M=256&N=256&K=256");
    page.getByText("256 × 256 × 256, bf16: at least").waitFor();
    // What the page asks for by itself comes after the text.
    page.waitForLoadState(LoadState.NETWORKIDLE);
    List<String> asked = new ArrayList<>();
    page.onRequest(request -> asked.add(request.url()));
    for (String value : List.of("0", "-1", "1.5", "", "1000001")) {
      type("K", value);
      assertThat(message()).contains("K must be a whole number between 1 and 1000000");
      assertThat(named("K").getAttribute("aria-invalid")).isEqualTo("true");
    }
    assertThat(asked).isEmpty();
    visit(WIDE, SHAPE);
    String before = figure("Moved");
    for (String value : List.of("0", "-1", "1.5", "", "65537")) {
      type("tile N", value);
      assertThat(message()).contains("tile N must be a whole number between 1 and 65536");
      assertThat(figure("Moved")).isEqualTo(before);
    }
  }

  @Test
  void anotherGridAndALoadedFileCanBeUndone() {
    assertThat(figure("Tiles")).isEqualTo("9 / 36");
    set("Rows of tiles", "4");
    assertThat(message()).contains("Undo brings the old one back");
    assertThat(figure("Tiles")).isEqualTo("0 / 24");
    button("Undo").click();
    assertThat(figure("Tiles")).isEqualTo("9 / 36");
    assertThat(page.getByLabel("Rows of tiles").inputValue()).isEqualTo("6");
    button("Redo").click();
    assertThat(figure("Tiles")).isEqualTo("0 / 24");
    assertThat(page.getByLabel("Rows of tiles").inputValue()).isEqualTo("4");
    load("order.txt", "t1 = 2 Order 0: [(0, 0, 0), (1, 0, 0)]");
    awaitFigure("Tiles", "2 / 24");
    assertThat(page.getByLabel("Tiles at a time").inputValue()).isEqualTo("2");
    button("Undo").click();
    assertThat(figure("Tiles")).isEqualTo("0 / 24");
    assertThat(page.getByLabel("Tiles at a time").inputValue()).isEqualTo("1");
  }

  @Test
  void twoBoardsThatChangedTogetherAreUndoneTogether() {
    page.getByText("Two boards side by side").click();
    set("Columns", "3");
    assertThat(page.locator(".board .tile").count()).isEqualTo(36);
    page.locator(".board").nth(1).getByText("Undo").click();
    assertThat(page.locator(".board .tile").count()).isEqualTo(72);
  }

  @Test
  @VisitsFirst
  void tilesAtTheEdgeCountWithWhatTheyHave() {
    visit(WIDE, SHAPE);
    type("M", "1000");
    type("N", "2000");
    type("K", "3000");
    page.getByLabel("Fill with a ready-made order").selectOption("row");
    // 2 (M K + K N + M N) bytes, though tiles of 256 x 256 would cover 1024 x 2048.
    assertThat(figure("Moved")).contains("22.0 MB of at least 22.0 MB, 1.00×");
    assertThat(figure("Stored")).contains("4.00 MB of at least 4.00 MB");
  }

  @Test
  void whatIsProvenTakesThePlaceOfTheBound() {
    set("Rows of tiles", "4");
    set("Columns", "4");
    set("Cache, blocks", "3");
    page.getByLabel("Which block a full cache gives up").selectOption("fifo");
    page.getByLabel("Fill with a ready-made order").selectOption("row");
    assertThat(figure("Loads")).contains("of at least " + FIFO_BOUND + ",");
    button("Find the best order").click();
    page.getByText(FIFO_LEAST + " loads: proven").waitFor();
    assertThat(figure("Loads")).isEqualTo(FIFO_LEAST + " of proven: " + FIFO_LEAST + ", 1.00×");
    assertThat(figure("Stores")).isEqualTo("16 of at least 16, 1.00×");
    page.getByLabel("Fill with a ready-made order").selectOption("row");
    assertThat(figure("Loads")).contains("of proven: " + FIFO_LEAST + ",");
    set("Cache, blocks", "4");
    assertThat(figure("Loads")).as("of another problem nothing is proven").contains("at least");
  }

  private static final int FIFO_BOUND = 10;
  private static final int FIFO_LEAST = 13;

  /** Bytes and times of a column are written in one unit, so that they can be compared by eye. */
  @Test
  @VisitsFirst
  void columnsHaveOneUnit() {
    visit(WIDE, "#device=M=8192&N=8192&K=8192");
    page.getByText("Counters of ncu on an H200").waitFor();
    assertThat(unitsOfColumns()).isEmpty();
    visit(WIDE, "#roofline=kind=model%3Dllama3-8b&gpus=h200,4090");
    page.getByText("all parts, fused").first().waitFor();
    assertThat(unitsOfColumns()).isEmpty();
  }

  private List<?> unitsOfColumns() {
    return (List<?>)
        page.evaluate(
            """
            () => [...document.querySelectorAll('table')].flatMap(table => {
              const heat = table.classList.contains('heat');
              const seen = new Map();
              for (const row of table.tBodies[0].rows) {
                [...row.cells].forEach((cell, i) => {
                  const unit = /^[\\d.,]+ (B|kB|MB|GB|TB|µs|ms|s)\\b/.exec(cell.textContent.trim())?.[1];
                  const key = heat ? 0 : i;
                  if (unit) seen.set(key, new Set([...(seen.get(key) ?? []), unit]));
                });
              }
              return [...seen.values()].filter(units => units.size > 1).map(units => [...units].join(' '));
            })
            """);
  }

  /**
   * From the click to the painted page, with 32 blocks along K: what the page's thread computes for
   * it, which other work of the machine does not lengthen.
   */
  @ParameterizedTest
  @ValueSource(strings = {"lru", "optimal"})
  void aClickAt32x32With32BlocksAlongKIsPaintedAtOnce(String policy) {
    set("Rows of tiles", "32");
    set("Columns", "32");
    set("Blocks along K", "32");
    set("Cache, blocks", "400");
    page.getByLabel("Which block a full cache gives up").selectOption(policy);
    page.getByLabel("Fill with a ready-made order").selectOption("hilbert");
    // What the board asks for besides, its ranking among them, is over.
    page.getByLabel("Ready-made orders").getByText("Hilbert").first().waitFor();
    page.waitForTimeout(900);
    CDPSession session = page.context().newCDPSession(page);
    JsonObject domain = new JsonObject();
    domain.addProperty("timeDomain", "threadTicks");
    session.send("Performance.enable", domain);
    // The first ones are compiled.
    click(5);
    int clicks = 20;
    double before = computed(session);
    click(clicks);
    double milliseconds = 1000 * (computed(session) - before) / clicks;
    System.err.printf(
        Locale.ROOT, "a click at 32 x 32 x 32, %s: computes %.1f ms%n", policy, milliseconds);
    assertThat(milliseconds).isBetween(1.0, 50.0);
  }

  private void click(int times) {
    page.evaluate(
        """
        async times => {
          const frame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
          for (let i = 0; i < times; i++) {
            document.querySelector('.tile.now').dispatchEvent(new MouseEvent('click', {bubbles: true}));
            await frame();
          }
        }
        """,
        times);
  }

  /** Seconds that the page's thread has computed: scripts, styles, layout, paint. */
  private static double computed(CDPSession session) {
    for (JsonElement metric : session.send("Performance.getMetrics").getAsJsonArray("metrics")) {
      if (metric.getAsJsonObject().get("name").getAsString().equals("TaskDuration")) {
        return metric.getAsJsonObject().get("value").getAsDouble();
      }
    }
    throw new AssertionError("Chromium says no TaskDuration");
  }
}
