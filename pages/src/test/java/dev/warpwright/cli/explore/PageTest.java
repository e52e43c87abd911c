package dev.warpwright.cli.explore;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.FilePayload;
import dev.warpwright.explorer.Explorer;
import dev.warpwright.explorer.Jobs;
import dev.warpwright.measure.orders.OrderMeasurement;
import dev.warpwright.measure.orders.RecordedOrders;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of the page in a real browser. After each, no request went to another host, and the page
 * had no error.
 */
@ExtendWith(Chromium.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class PageTest {
  static final int WIDE = 1280;
  static final int NARROW = 390;

  /** A small board of equal blocks, for those who draw by hand. */
  static final String BLOCKS = "#preset=blocks";

  private final List<String> strayRequests = new ArrayList<>();
  private final List<String> troubles = new ArrayList<>();
  @TempDir static Path folder;
  private Jobs jobs;
  private Explorer explorer;
  private Browser browser;
  private final Map<Window, Page> pages = new HashMap<>();
  Page page;

  @RegisterExtension
  final BeforeEachCallback browserOf =
      (ExtensionContext context) -> browser = Chromium.browser(context);

  /** What the page can measure on. */
  MeasuringDevice device() {
    return MeasuringDevice.none("no GPU in this test");
  }

  /** What comes along, measured before. */
  List<OrderMeasurement> recorded() {
    return List.of();
  }

  @BeforeAll
  void start() {
    jobs = new Jobs();
    Path kernels = Files.isDirectory(Path.of("../kernels")) ? Path.of("../kernels") : Path.of(".");
    explorer =
        ExploreAction.start(
            new ExploreRequest(0, kernels, database()),
            jobs,
            device(),
            new RecordedOrders(recorded()));
  }

  Path database() {
    return folder.resolve("tuning.db");
  }

  @AfterAll
  void end() {
    pages.values().forEach(page -> page.context().close());
    if (explorer != null) {
      explorer.close();
      jobs.close();
    }
  }

  /** On a test that begins elsewhere than at {@link #BLOCKS}: a page takes seconds to load. */
  @Retention(RetentionPolicy.RUNTIME)
  @Target(ElementType.METHOD)
  @interface VisitsFirst {}

  @BeforeEach
  void open(TestInfo test) {
    strayRequests.clear();
    troubles.clear();
    if (!test.getTestMethod().orElseThrow().isAnnotationPresent(VisitsFirst.class)) {
      visit(WIDE, BLOCKS);
    }
  }

  void visit(int width, String fragment) {
    visit(width, fragment, ColorScheme.LIGHT);
  }

  void visit(int width, String fragment, ColorScheme theme) {
    page = pages.computeIfAbsent(new Window(width, theme), this::blank);
    page.navigate("about:blank");
    page.navigate(address() + fragment);
    page.locator(".tile, table.heat button, .chart .line, .list button").first().waitFor();
  }

  private record Window(int width, ColorScheme theme) {}

  private Page blank(Window window) {
    BrowserContext context =
        browser.newContext(
            new Browser.NewContextOptions()
                .setViewportSize(window.width, 900)
                .setColorScheme(window.theme)
                .setHasTouch(window.width == NARROW)
                .setAcceptDownloads(true));
    Page blank = context.newPage();
    blank.setDefaultTimeout(60_000);
    blank.onRequest(
        request -> {
          String url = request.url();
          if (!url.startsWith(address()) && !url.startsWith("blob:") && !url.startsWith("data:")) {
            strayRequests.add(url);
          }
        });
    blank.onPageError(troubles::add);
    blank.onDialog(dialog -> troubles.add("dialog: " + dialog.message()));
    return blank;
  }

  String address() {
    return explorer.address().toString();
  }

  @AfterEach
  void nothingStrayed() {
    assertThat(strayRequests).as("requests to other hosts").isEmpty();
    assertThat(troubles).as("errors in the page").isEmpty();
    page.unrouteAll();
  }

  Locator button(String name) {
    return page.getByRole(
        AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true));
  }

  Locator tile(int row, int column) {
    return page.locator(String.format(Locale.ROOT, "[data-tile='0:%d:%d']", row, column));
  }

  String figure(String name) {
    return page.locator(".figures div")
        .filter(new Locator.FilterOptions().setHasText(name))
        .first()
        .locator("dd")
        .textContent();
  }

  /** Waits until a figure is as expected: files are read beside what the page does. */
  void awaitFigure(String name, String value) {
    page.locator(".figures div")
        .filter(new Locator.FilterOptions().setHasText(name))
        .first()
        .locator("dd")
        .filter(new Locator.FilterOptions().setHasText(value))
        .waitFor();
  }

  void set(String label, String value) {
    Locator input = page.getByLabel(label, new Page.GetByLabelOptions().setExact(false)).first();
    input.fill(value);
    input.dispatchEvent("change");
  }

  String message() {
    Locator box = page.locator("#message.shown");
    box.waitFor();
    return box.textContent();
  }

  void load(String name, String content) {
    page.locator("input[type=file]")
        .setInputFiles(
            new FilePayload(name, "text/plain", content.getBytes(StandardCharsets.UTF_8)));
  }
}
