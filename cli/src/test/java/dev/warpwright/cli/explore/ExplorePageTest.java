package dev.warpwright.cli.explore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Download;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.FilePayload;
import dev.warpwright.cost.order.CachePolicy;
import dev.warpwright.cost.order.OrderBounds;
import dev.warpwright.cost.order.OrderSimulation;
import dev.warpwright.cost.order.TileOrders;
import dev.warpwright.cost.order.TileProblem;
import dev.warpwright.cost.order.WorkItem;
import dev.warpwright.explorer.Explorer;
import dev.warpwright.explorer.Jobs;
import dev.warpwright.ir.BlockOrder;
import dev.warpwright.tune.measure.Outcome;
import dev.warpwright.tune.record.Environment;
import dev.warpwright.tune.record.TuningDatabase;
import dev.warpwright.tune.record.TuningRecord;
import dev.warpwright.tune.record.WorkloadKey;
import dev.warpwright.tune.space.Point;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The page in a real browser: Chromium, as the machine has it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ExplorePageTest {
  private static final int WIDE = 1280;
  private static final int NARROW = 390;

  private final List<String> strayRequests = new ArrayList<>();
  private final List<String> troubles = new ArrayList<>();
  @TempDir static Path folder;
  private @Nullable Jobs jobs;
  private @Nullable Explorer explorer;
  private @Nullable Playwright playwright;
  private @Nullable Browser browser;
  private BrowserContext context;
  private Page page;

  @BeforeAll
  void start() {
    Path chromium =
        Stream.of("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
            .map(Path::of)
            .filter(Files::isExecutable)
            .findFirst()
            .orElse(null);
    assumeTrue(chromium != null, "no Chromium here: apt-get install chromium");
    jobs = new Jobs();
    Path kernels = Files.isDirectory(Path.of("../kernels")) ? Path.of("../kernels") : Path.of(".");
    explorer = ExploreAction.start(new ExploreRequest(0, kernels, database()), jobs);
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
    playwright = Playwright.create(new Playwright.CreateOptions().setEnv(environment));
    browser =
        playwright
            .chromium()
            .launch(
                new BrowserType.LaunchOptions()
                    .setExecutablePath(chromium)
                    .setArgs(List.of("--no-sandbox")));
  }

  private Path database() {
    return folder.resolve("tuning.db");
  }

  @AfterAll
  void end() {
    if (playwright != null) {
      playwright.close();
    }
    if (explorer != null) {
      explorer.close();
    }
    if (jobs != null) {
      jobs.close();
    }
  }

  @BeforeEach
  void open() {
    strayRequests.clear();
    troubles.clear();
    visit(WIDE, "");
  }

  private void visit(int width, String fragment) {
    if (context != null) {
      context.close();
    }
    context =
        browser.newContext(
            new Browser.NewContextOptions()
                .setViewportSize(width, 900)
                .setHasTouch(width == NARROW)
                .setAcceptDownloads(true));
    page = context.newPage();
    page.setDefaultTimeout(90_000);
    page.onRequest(
        request -> {
          String url = request.url();
          if (!url.startsWith(address()) && !url.startsWith("blob:") && !url.startsWith("data:")) {
            strayRequests.add(url);
          }
        });
    page.onPageError(troubles::add);
    page.onDialog(dialog -> troubles.add("dialog: " + dialog.message()));
    page.navigate(address() + fragment);
    page.locator(".tile").first().waitFor();
  }

  private String address() {
    return explorer.address().toString();
  }

  @AfterEach
  void nothingStrayed() {
    assertThat(strayRequests).as("requests to other hosts").isEmpty();
    assertThat(troubles).as("errors in the page").isEmpty();
    if (context != null) {
      context.close();
      context = null;
    }
  }

  private Locator button(String name) {
    return page.getByRole(
        AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true));
  }

  private Locator tile(int row, int column) {
    return page.locator("[data-tile='0:%d:%d']".formatted(row, column));
  }

  private String figure(String name) {
    return page.locator(".figures div")
        .filter(new Locator.FilterOptions().setHasText(name))
        .first()
        .locator("dd")
        .textContent();
  }

  /** Waits until a figure is as expected: files are read beside what the page does. */
  private void awaitFigure(String name, String value) {
    page.locator(".figures div")
        .filter(new Locator.FilterOptions().setHasText(name))
        .first()
        .locator("dd")
        .filter(new Locator.FilterOptions().setHasText(value))
        .waitFor();
  }

  private void set(String label, String value) {
    Locator input = page.getByLabel(label, new Page.GetByLabelOptions().setExact(false)).first();
    input.fill(value);
    input.dispatchEvent("change");
  }

  private String message() {
    Locator box = page.locator("#message.shown");
    box.waitFor();
    return box.textContent();
  }

  @Test
  void clickingTilesMakesAnOrder() {
    button("Reset").click();
    tile(0, 0).click();
    tile(0, 1).click();
    tile(1, 1).click();
    assertThat(figure("Loads")).startsWith("4 ");
    assertThat(figure("Hits")).startsWith("2");
    assertThat(figure("Tiles")).isEqualTo("3 / 36");
    assertThat(page.locator(".path").getAttribute("d")).matches("M[\\d. ]+L[\\d. ]+L[\\d. ]+");
    button("Undo").click();
    assertThat(figure("Loads")).startsWith("3 ");
    button("Redo").click();
    assertThat(figure("Loads")).startsWith("4 ");
    page.keyboard().press("Control+z");
    tile(0, 1).click();
    assertThat(figure("Tiles")).as("the last tile goes off again").isEqualTo("1 / 36");
    button("Reset").click();
    assertThat(figure("Loads")).startsWith("0 ");
  }

  @Test
  void theKeyboardIsEnough() {
    button("Reset").click();
    page.locator(".stage svg").focus();
    for (String key : List.of("Space", "ArrowRight", "Space", "ArrowDown", "Enter")) {
      page.keyboard().press(key);
    }
    assertThat(figure("Tiles")).isEqualTo("3 / 36");
    page.keyboard().press("Backspace");
    assertThat(figure("Tiles")).isEqualTo("2 / 36");
  }

  @Test
  void theBestOrderIsFoundAndShown() {
    set("Rows of tiles", "4");
    set("Columns", "4");
    set("Cache, blocks", "4");
    page.getByLabel("Which block a full cache gives up").selectOption("optimal");
    button("Find the best order").click();
    page.getByText("10 loads: proven").waitFor();
    assertThat(figure("Loads")).startsWith("10 ");
    assertThat(figure("Tiles")).isEqualTo("16 / 16");
  }

  @Test
  void aSearchIsCancelled() {
    set("Rows of tiles", "12");
    set("Columns", "12");
    page.getByLabel("Seconds").fill("300");
    button("Find the best order").click();
    page.getByText("states; between").waitFor();
    button("Cancel").click();
    page.getByText("is the best found").waitFor();
    assertThat(figure("Tiles")).isEqualTo("144 / 144");
  }

  @Test
  void filesAreSavedAndLoadedInBothForms() throws IOException {
    page.getByLabel("Fill with a ready-made order").selectOption("hilbert");
    String loads = figure("Loads");
    Download text = page.waitForDownload(() -> button("As text").click());
    Download board = page.waitForDownload(() -> button("Save").click());
    Download csv = page.waitForDownload(() -> button("CSV").click());
    assertThat(Files.readAllLines(csv.path())).hasSize(37);
    assertThat(Files.readString(text.path())).startsWith("t1 = 1 Order 0: [(0, 0, 0), ");
    for (Path file : List.of(text.path(), board.path())) {
      button("Reset").click();
      load("order.txt", Files.readString(file));
      // The message of the first file is still there when the second one is read.
      awaitFigure("Tiles", "36 / 36");
      assertThat(message()).isEqualTo("36 tiles loaded");
      assertThat(figure("Loads")).isEqualTo(loads);
    }
  }

  private void load(String name, String content) {
    page.locator("input[type=file]")
        .setInputFiles(
            new FilePayload(name, "text/plain", content.getBytes(StandardCharsets.UTF_8)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "[]",
        "null",
        "{\"v\": 1, \"order\": []}",
        "t1 = 1 Order 0: [(0, 0, 0), (0, 0, 0)]",
        "t1 = 1 Order 0: [(99, 0, 0)]",
        "t1 = 999999 Order 0: [(0, 0, 0)]",
        "t1 = 1 Order 0: [<img src=x onerror=alert(1)>]",
        "<script>alert(1)</script>",
        "{\"v\":1,\"rows\":1e9,\"columns\":1e9,\"depth\":1,\"chained\":0,\"capacity\":4,"
            + "\"policy\":\"lru\",\"atOnce\":1,\"sizes\":{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1},"
            + "\"order\":[]}"
      })
  void hostileFilesGetAMessage(String content) {
    String before = figure("Loads");
    load("<img src=x onerror=alert(1)>.txt", content);
    assertThat(message()).isNotEmpty();
    assertThat(page.locator("#message").getAttribute("class")).contains("error");
    assertThat(page.locator("#message img, #message script").count()).isZero();
    assertThat(figure("Loads")).isEqualTo(before);
  }

  @Test
  void hugeFilesGetAMessage() {
    load("huge.txt", "t1 = 1 Order 0: [" + "(0, 0, 0), ".repeat(500_000) + "]");
    assertThat(message()).contains("too large");
    load("long.txt", "t1 = 1 Order 0: [" + "(0, 0, 0), ".repeat(100_000) + "]");
    page.getByText("more than").waitFor();
  }

  @Test
  void badParametersGetAMessage() {
    set("Rows of tiles", "1000");
    assertThat(message()).contains("Rows must be a whole number between 1 and 64");
    set("Rows of tiles", "6");
    set("Cache, blocks", "1");
    page.getByText("cannot hold what is used").waitFor();
  }

  @Test
  void aLinkBringsTheBoardAlong() {
    page.getByLabel("Fill with a ready-made order").selectOption("morton");
    String loads = figure("Loads");
    button("Copy link").click();
    String link = page.getByLabel("Link").inputValue();
    assertThat(link).startsWith(address().replace("localhost", "127.0.0.1") + "#board=");
    visit(WIDE, link.substring(link.indexOf('#')));
    assertThat(figure("Loads")).isEqualTo(loads);
    assertThat(figure("Tiles")).isEqualTo("36 / 36");
    visit(WIDE, "#board=%3Cscript%3E");
    assertThat(message()).contains("holds no board");
  }

  @Test
  void twoBoardsStandSideBySide() {
    page.getByText("Two boards side by side").click();
    assertThat(page.locator(".board").count()).isEqualTo(2);
    assertThat(
            (Boolean)
                page.evaluate(
                    """
                    () => [...document.querySelectorAll('.board')].every(board =>
                      [...board.querySelectorAll('svg, .meter, input')].every(part =>
                        part.getBoundingClientRect().right <= board.getBoundingClientRect().right))
                    """))
        .as("everything is inside its board")
        .isTrue();
    page.getByLabel("Fill with a ready-made order").nth(1).selectOption("column");
    page.getByLabel("Which block a full cache gives up").nth(1).selectOption("optimal");
    assertThat(page.locator(".board").nth(1).locator("dd").first().textContent())
        .isNotEqualTo(page.locator(".board").nth(0).locator("dd").first().textContent());
  }

  @Test
  void aClickIsAnsweredAtOnceAt32x32() {
    set("Rows of tiles", "32");
    set("Columns", "32");
    set("Cache, blocks", "40");
    page.getByLabel("Which block a full cache gives up").selectOption("optimal");
    var order = new StringBuilder("t1 = 1 Order 0: [");
    new BlockOrder.Hilbert()
        .tiles(32, 32).stream()
            .limit(1008)
            .forEach(t -> order.append("(%d, %d, 0),".formatted(t.n(), t.m())));
    load("order.txt", order.append("]").toString());
    page.getByText("1008 tiles loaded").waitFor();
    // From the click to the changed page, laid out.
    double milliseconds =
        ((Number)
                page.evaluate(
                    """
                    () => {
                      const times = [];
                      for (let i = 0; i < 15; i++) {
                        const tile = document.querySelector('.tile:not(.done, .now)');
                        const begin = performance.now();
                        tile.dispatchEvent(new MouseEvent('click', {bubbles: true}));
                        document.body.getBoundingClientRect();
                        times.push(performance.now() - begin);
                      }
                      return times.sort((a, b) => a - b)[7];
                    }
                    """))
            .doubleValue();
    System.err.printf("a click at 32 x 32, Belady: %.1f ms%n", milliseconds);
    assertThat(milliseconds).isLessThan(50);
    assertThat(figure("Tiles")).isEqualTo("1,023 / 1,024");
  }

  @Test
  void thePageLoadsInASecond() {
    double milliseconds =
        ((Number) page.evaluate("() => performance.getEntriesByType('navigation')[0].loadEventEnd"))
            .doubleValue();
    System.err.printf("the page loads in %.0f ms%n", milliseconds);
    assertThat(milliseconds).isLessThan(1000);
  }

  /** The page's own simulation beside Java's, on random problems and orders. */
  @Test
  void thePageCountsAsJavaDoes() {
    long seed = Long.getLong("seed", new Random().nextLong());
    System.err.println("ExplorePageTest seed " + seed);
    Random random = new Random(seed);
    List<Object> cases = new ArrayList<>();
    List<Object> wantedOfAll = new ArrayList<>();
    for (int round = 0; round < 150; round++) {
      boolean one = random.nextBoolean();
      var sizes =
          one
              ? TileProblem.Sizes.ONE
              : new TileProblem.Sizes(
                  1 + random.nextInt(3),
                  1 + random.nextInt(3),
                  1 + random.nextInt(3),
                  1 + random.nextInt(3),
                  1 + random.nextInt(3));
      var problem =
          new TileProblem(
              1 + random.nextInt(6),
              1 + random.nextInt(6),
              1 + random.nextInt(3),
              random.nextInt(3) == 0 ? 1 + random.nextInt(3) : 0,
              random.nextBoolean(),
              sizes,
              30 + random.nextInt(20),
              1 + random.nextInt(2));
      CachePolicy policy = CachePolicy.values()[random.nextInt(3)];
      List<WorkItem> order = new ArrayList<>();
      List<WorkItem> second = new ArrayList<>();
      TileOrders.of(problem, new BlockOrder.Row())
          .forEach(item -> (item.gemm() == 0 ? order : second).add(item));
      Collections.shuffle(order, random);
      Collections.shuffle(second, random);
      if (order.size() % problem.atOnce() == 0) {
        order.addAll(second);
      }
      OrderSimulation java = OrderSimulation.run(problem, order, policy, true);
      List<List<Integer>> wanted = new ArrayList<>();
      wanted.add(
          numbers(
              java.loads(),
              java.loadedSize(),
              java.hits(),
              java.stores(),
              java.storedSize(),
              java.flushed(),
              OrderBounds.loads(problem)));
      java.steps()
          .forEach(
              step -> {
                wanted.add(step.loaded());
                wanted.add(step.evicted());
                wanted.add(step.contents());
              });
      cases.add(List.of(forThePage(problem, policy), forThePage(order)));
      wantedOfAll.add(wanted);
    }
    Object found =
        page.evaluate(
            """
            async cases => {
              const m = await import('/model.js');
              return cases.map(([problem, order]) => {
                const run = m.simulate(problem, order);
                const out = [[run.loads, run.loaded, run.hits, run.stores, run.stored, run.flushed, m.bounds(problem).loads]];
                for (const s of run.steps) out.push(s.loaded, s.evicted, s.contents);
                return out;
              });
            }
            """,
            cases);
    for (int i = 0; i < cases.size(); i++) {
      assertThat(((List<?>) found).get(i)).as("%s", cases.get(i)).isEqualTo(wantedOfAll.get(i));
    }
  }

  private static List<Integer> numbers(long... values) {
    return java.util.Arrays.stream(values).mapToInt(Math::toIntExact).boxed().toList();
  }

  private static Map<String, Object> forThePage(TileProblem p, CachePolicy policy) {
    Map<String, Object> problem = new HashMap<>();
    problem.put("rows", p.rows());
    problem.put("columns", p.columns());
    problem.put("depth", p.depth());
    problem.put("chained", p.chained());
    problem.put("cached", p.cachedResults());
    problem.put("capacity", (int) p.capacity());
    problem.put("atOnce", p.atOnce());
    problem.put("policy", policy.text());
    problem.put(
        "sizes",
        Map.of(
            "a", (int) p.sizes().a(),
            "b", (int) p.sizes().b(),
            "c", (int) p.sizes().c(),
            "d", (int) p.sizes().d(),
            "e", (int) p.sizes().e()));
    return problem;
  }

  private static List<Map<String, Integer>> forThePage(List<WorkItem> order) {
    return order.stream()
        .map(t -> Map.of("gemm", t.gemm(), "row", t.row(), "column", t.column()))
        .toList();
  }

  @Test
  void readyMadeOrdersAreThoseOfJava() {
    for (String name : TileOrders.READY_MADE) {
      for (int[] grid : new int[][] {{1, 1}, {5, 3}, {8, 8}, {3, 13}}) {
        Object tiles =
            page.evaluate(
                "async ([name, r, c]) => (await import('/model.js')).tiles(name, r, c)",
                List.of(name, grid[0], grid[1]));
        assertThat(tiles)
            .as("%s %dx%d", name, grid[0], grid[1])
            .isEqualTo(
                BlockOrder.parse(name).tiles(grid[0], grid[1]).stream()
                    .map(t -> List.of(t.m(), t.n()))
                    .toList());
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "board, 1280",
    "device, 1280",
    "roofline, 1280",
    "kernels, 1280",
    "board, 390",
    "device, 390",
    "roofline, 390",
    "kernels, 390"
  })
  void everyViewFitsItsWidth(String view, int width) {
    visit(width, "");
    page.navigate(address() + "#" + view);
    String ready =
        switch (view) {
          case "device" -> "table.heat button";
          case "roofline" -> ".chart .line";
          case "kernels" -> "pre, .empty";
          default -> ".tile";
        };
    page.locator(ready).first().waitFor();
    assertThat((Integer) page.evaluate("document.documentElement.scrollWidth")).isEqualTo(width);
    page.screenshot(
        new Page.ScreenshotOptions()
            .setPath(Path.of("build", "screenshots", view + "-" + width + ".png"))
            .setFullPage(true));
  }

  @Test
  void touchWorksOnASmallScreen() {
    visit(NARROW, "");
    button("Reset").tap();
    tile(0, 0).tap();
    tile(1, 0).tap();
    assertThat(figure("Tiles")).isEqualTo("2 / 36");
  }

  @Test
  void theDeviceViewShowsWhatWasMeasured() {
    page.navigate(address() + "#device");
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
  void kernelsAreShownAsTextOnly() {
    page.navigate(address() + "#kernels");
    page.locator(".list button").first().waitFor();
    page.locator("pre").first().waitFor();
    assertThat(page.locator("pre").first().textContent()).contains("kernel ");
    page.locator(".list").first().locator("button").last().click();
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("CUDA C++")).click();
    assertThat(page.locator("pre").first().textContent()).contains("__global__");
  }

  @Test
  void tuningRunsAreShownWithTheirWinner() {
    page.navigate(address() + "#kernels");
    page.getByText("There are no tuning runs here yet").waitFor();
    var workload = WorkloadKey.parse("gemm dtype=bf16 k=64 layout=nt m=16 n=32");
    var environment = new Environment("sm_90a", "NVIDIA <b>H200", "580", "13.0", "1");
    try (TuningDatabase open = TuningDatabase.open(database())) {
      double[] times = {30, 20, 25};
      for (int i = 0; i < times.length; i++) {
        open.add(
            new TuningRecord(
                workload,
                environment,
                Point.parse("tileM=" + (64 << i) + " order=row"),
                "",
                new Outcome.Measured(times[i], 0.01, 1e-3, 1980, 50),
                Instant.parse("2026-11-20T12:00:0" + i + "Z")));
      }
    }
    // The first kernel, which is shown unasked, is answered only after the run was chosen.
    page.locator("pre").first().waitFor();
    List<Route> late = new ArrayList<>();
    page.route("**/api/kernel?*", late::add);
    page.reload();
    page.waitForCondition(() -> !late.isEmpty());
    page.getByText("gemm dtype=bf16 k=64 layout=nt m=16 n=32").click();
    page.getByText("The winner: 20.0 µs").waitFor();
    page.waitForResponse("**/api/kernel?*", () -> late.removeFirst().resume()).finished();
    page.waitForTimeout(200);
    assertThat(page.locator(".chips").first().textContent()).isEqualTo("tileM=128order=row");
    assertThat(page.locator(".chart circle").count()).isEqualTo(3);
    assertThat(page.locator(".list b").count()).isZero();
  }
}
