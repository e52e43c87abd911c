package dev.warpwright.cli.explore;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.LoadState;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every view, at both widths. */
final class ViewsPageTest extends PageTest {
  /** What has to come before anything is seen: a time would be that of whatever else runs here. */
  @Test
  void thePageIsSmall() {
    List<?> loaded =
        (List<?>)
            page.evaluate(
                """
                () => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
                  .filter(entry => !entry.name.includes('/api/')).map(entry => entry.decodedBodySize)
                """);
    assertThat(loaded).hasSizeBetween(10, 40);
    assertThat(loaded.stream().mapToLong(size -> ((Number) size).longValue()).sum())
        .as("bytes of the page, its styles and scripts")
        .isBetween(50_000L, 250_000L);
  }

  @ParameterizedTest
  @ValueSource(ints = {WIDE, NARROW})
  @VisitsFirst
  void everyViewFitsItsWidth(int width) {
    visit(width, "");
    for (String view : List.of("board", "device", "roofline", "kernels")) {
      page.evaluate("view => (location.hash = `#${view}`)", view);
      fits(view, width);
    }
  }

  private void fits(String view, int width) {
    String ready =
        switch (view) {
          case "device" -> "table.heat button";
          case "roofline" -> ".chart .line";
          case "kernels" -> "pre, .empty";
          default -> ".tile";
        };
    page.locator(ready).first().waitFor();
    assertThat((Integer) page.evaluate("document.documentElement.scrollWidth")).isEqualTo(width);
    page.waitForLoadState(LoadState.NETWORKIDLE);
    assertThat((List<?>) page.evaluate(CROWDED)).as("%s at %d", view, width).isEmpty();
    page.screenshot(
        new Page.ScreenshotOptions()
            .setPath(Path.of("build", "screenshots", view + "-" + width + ".png"))
            .setFullPage(true));
  }

  /** Texts of a chart that cover each other or are cut off, entries of a list that do. */
  private static final String CROWDED =
      """
      () => {
        const found = [];
        const within = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
        const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 2 || b.bottom <= a.top + 2;
        const check = (frame, parts) => {
          const boxes = [...parts].map(part => [part.textContent, part.getBoundingClientRect()]).filter(([, box]) => box.width);
          boxes.forEach(([text, box], i) => {
            if (frame && !within(box, frame.getBoundingClientRect())) found.push(`${text} is cut off`);
            for (const [other, there] of boxes.slice(i + 1)) if (!apart(box, there)) found.push(`${text} covers ${other}`);
          });
        };
        for (const chart of document.querySelectorAll('svg.chart')) check(chart, chart.querySelectorAll('text'));
        for (const list of document.querySelectorAll('.list')) check(null, list.children);
        return found;
      }
      """;

  /** What orange, red and the accent say, no line of a chart says. */
  @ParameterizedTest
  @EnumSource(names = {"LIGHT", "DARK"})
  @VisitsFirst
  void coloursHaveOneMeaning(ColorScheme theme) {
    visit(WIDE, "#device=M=8192&N=8192&K=8192&gpu=h200&cell=256x256 hilbert", theme);
    page.getByText("measured", new Page.GetByTextOptions().setExact(true)).first().waitFor();
    assertThat(
            (List<?>)
                page.evaluate(
                    """
                    () => {
                      const style = getComputedStyle(document.documentElement);
                      const of = name => style.getPropertyValue(name).trim();
                      const said = ['--accent', '--load', '--wrong', '--wait', '--second'].map(of);
                      const lines = Array.from({length: 8}, (_, i) => of(`--s${i + 1}`));
                      return [...lines, ...said].filter((c, i, all) => all.indexOf(c) !== i);
                    }
                    """))
        .isEmpty();
    assertThat(page.locator(".flow.load").count()).as("predicted and measured").isEqualTo(2);
    assertThat(
            page.evaluate(
                """
                () => {
                  const probe = document.createElement('i');
                  probe.style.color = 'var(--load)';
                  document.body.append(probe);
                  const load = getComputedStyle(probe).color;
                  probe.remove();
                  return [...document.querySelectorAll('.flow.load')].every(flow => getComputedStyle(flow).stroke === load);
                }
                """))
        .isEqualTo(true);
  }

  /** On a small screen the board comes before what it can be changed by. */
  @Test
  @VisitsFirst
  void theBoardComesFirstOnASmallScreen() {
    visit(NARROW, "");
    double board = page.locator(".board").boundingBox().y;
    assertThat(board).isLessThan(page.locator("details.fold").first().boundingBox().y);
    assertThat(board).as("it begins on the first screen").isLessThan(500);
  }

  /** A board that is wider than the screen says so, and is scrolled, not squeezed. */
  @Test
  @VisitsFirst
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
