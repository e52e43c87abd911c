package dev.warpwright.cli.explore;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every view, at both widths. */
final class ViewsPageTest extends PageTest {
  @Test
  void thePageLoadsInASecond() {
    double milliseconds =
        ((Number) page.evaluate("() => performance.getEntriesByType('navigation')[0].loadEventEnd"))
            .doubleValue();
    System.err.printf(Locale.ROOT, "the page loads in %.0f ms%n", milliseconds);
    assertThat(milliseconds).isLessThan(1000);
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

  /** A board that is wider than the screen says so, and is scrolled, not squeezed. */
  @Test
  void aLargeBoardScrollsOnASmallScreen() {
    visit(NARROW, PageTest.BLOCKS);
    page.locator("details.fold summary").first().tap();
    set("Rows of tiles", "32");
    set("Columns", "32");
    page.getByText("Scroll the board sideways and down to see all tiles").waitFor();
    assertThat((Integer) page.evaluate("document.documentElement.scrollWidth")).isEqualTo(NARROW);
    assertThat(
            (Boolean)
                page.evaluate(
                    "() => { const s = document.querySelector('.stage'); return s.scrollWidth >"
                        + " s.clientWidth; }"))
        .isTrue();
    tile(31, 31).scrollIntoViewIfNeeded();
    assertThat(tile(31, 31).boundingBox().width).isGreaterThanOrEqualTo(13);
    tile(31, 31).tap();
    assertThat(figure("Tiles")).isEqualTo("1 / 1,024");
  }
}
