package dev.warpwright.cli.explore;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Download;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.LoadState;
import com.microsoft.playwright.options.WaitForSelectorState;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the page tells someone who comes for the first time; and that it can be read. */
final class StoryPageTest extends PageTest {
  @Test
  @VisitsFirst
  void itOpensOnAFeedForwardBlockAndSaysWhichOrderLoadsWhatAndWhy() {
    visit(WIDE, "");
    assertThat(page.getByLabel("Begin with").locator("option:checked").textContent())
        .isEqualTo("Llama-3-8B FFN, up, 2048 tokens");
    for (Map.Entry<String, String> field :
        Map.of(
                "M",
                "2048",
                "N",
                "14336",
                "K",
                "4096",
                "tile M",
                "128",
                "Cache, MB",
                "41.943",
                "Tiles at a time",
                "108",
                "GPU",
                "a100")
            .entrySet()) {
      assertThat(page.locator("[data-name='" + field.getKey() + "']:visible").first().inputValue())
          .as(field.getKey())
          .isEqualTo(field.getValue());
    }
    assertThat(figure("Loaded")).isEqualTo("1.03 GB of at least 134 MB, 7.69×");
    Locator orders = page.getByLabel("Ready-made orders");
    orders.getByText("108 tiles run at a time on the SMs of A100 SXM 80 GB").waitFor();
    assertThat(orders.textContent())
        .contains(
            "Row by row covers 3 rows and 56 columns at a time, so A is read 1.5× and B 8.6×",
            "Hilbert covers 12 rows and 14 columns at a time, so A is read 3.0× and B 1.3×");
    orders.getByText("Hilbert", new Locator.GetByTextOptions().setExact(true)).click();
    assertThat(figure("Loaded")).isEqualTo("198 MB of at least 134 MB, 1.48×");
  }

  @Test
  void anOrderIsPlayedStepByStep() {
    page.locator("[aria-label='Fill with a ready-made order']").selectOption("row");
    Locator step = page.locator("[data-name='Step']");
    button("Play").click();
    page.waitForCondition(() -> Integer.parseInt(step.inputValue()) == 2);
    button("Pause").click();
    String stopped = step.inputValue();
    page.waitForTimeout(500);
    assertThat(step.inputValue()).isEqualTo(stopped);
    assertThat(figure("Tiles")).isEqualTo(stopped + " / 36");
    page.locator(".strip").click();
    assertThat(step.inputValue()).as("the middle of the strip").isIn("18", "19");
  }

  @Test
  void aTileSaysWhatItMissedAndWhy() {
    page.locator("[aria-label='Fill with a ready-made order']").selectOption("row");
    tile(1, 0).hover();
    assertThat(page.locator(".told").first().textContent())
        .isEqualTo(
            "tile (1, 0), step 7. row 1 of A: loaded for the first time; column 0 of B: missed"
                + " because evicted at step 5.");
    assertThat(page.locator(".lit[visibility=visible]").count()).isEqualTo(2);
    page.locator(".stage svg").focus();
    page.keyboard().press("ArrowDown");
    assertThat(page.locator(".told").first().textContent()).startsWith("tile (1, 0), step 7.");
    page.keyboard().press("ArrowRight");
    assertThat(page.locator(".told").first().textContent())
        .isEqualTo(
            "tile (1, 1), step 8. row 1 of A: all in the cache; column 1 of B: missed because"
                + " evicted at step 6.");
  }

  @Test
  @VisitsFirst
  void aCellOfTheDeviceViewOpensAsABoard() {
    visit(WIDE, "#device=M=2048&N=4096&K=1024&gpu=a100&cell=128x128 hilbert");
    page.getByText("predicted").first().waitFor();
    assertThat(page.locator(".flows").getAttribute("aria-label"))
        .contains("predicted: ", "from L2");
    page.getByText("Open as a board").click();
    page.locator(".tile").first().waitFor();
    assertThat(figure("Tiles")).isEqualTo("512 / 512");
    assertThat(page.locator("[data-name='GPU']").inputValue()).isEqualTo("a100");
    assertThat(page.locator("[data-name='Tiles at a time']").inputValue()).isEqualTo("216");
  }

  @Test
  void chainedOrdersAreReadyMadeAndTheWinnerDependsOnTheCache() {
    set("Rows of tiles", "3");
    set("Columns", "2");
    set("Columns of a second GEMM", "2");
    page.getByText("Results go through the cache").click();
    page.locator("[aria-label='Fill with a ready-made order']").selectOption("rows:1");
    assertThat(figure("Tiles")).isEqualTo("12 / 12");
    assertThat(page.locator(".path.across").getAttribute("d"))
        .as("arrows from C to E")
        .contains("L");
    assertThat(page.locator(".label").first().textContent()).isEqualTo("0");
    assertThat(page.locator("[data-tile='1:0:0'] + .label").textContent()).isEqualTo("2");
    page.getByLabel("Ready-made orders")
        .getByText(Pattern.compile("reads A [\\d.]+×, B [\\d.]+× and D [\\d.]+×, and C "))
        .waitFor();
    button("Which order wins with which cache?").click();
    page.locator("table.wins").getByText("proven").first().waitFor();
    assertThat(page.locator("table.wins tbody tr").count()).isGreaterThan(4);
    assertThat(page.locator("table.wins").textContent()).contains("a row of C, its row of E");
  }

  @Test
  void everyViewIsSavedAsATableAndAPicture() throws IOException {
    for (String view : List.of("device=M=256&N=256&K=256", "roofline=kind=gemm&gpus=h200")) {
      visit(WIDE, "#" + view);
      page.locator(".chart .line")
          .first()
          .waitFor(new Locator.WaitForOptions().setState(WaitForSelectorState.ATTACHED));
      Download csv = page.waitForDownload(() -> button("CSV").first().click());
      Download svg = page.waitForDownload(() -> button("SVG").first().click());
      assertThat(Files.readAllLines(csv.path()))
          .hasSizeGreaterThan(1)
          .first()
          .asString()
          .contains("gpu");
      assertThat(Files.readString(svg.path())).startsWith("<svg").contains("stroke=\"rgb(");
    }
  }

  /**
   * Every text on every view, in both themes: 4.5 to 1 at least, as for people who see less well.
   */
  @ParameterizedTest
  @EnumSource(names = {"LIGHT", "DARK"})
  @VisitsFirst
  void textCanBeRead(ColorScheme theme) {
    visit(WIDE, "", theme);
    for (String view : List.of("board", "device", "roofline", "kernels", BLOCKS.substring(1))) {
      page.evaluate("view => (location.hash = `#${view}`)", view);
      page.locator(".tile, table.heat button, .chart .line, .list button").first().waitFor();
      page.waitForLoadState(LoadState.NETWORKIDLE);
      page.waitForTimeout(300);
      assertThat((List<?>) page.evaluate(CONTRAST)).as("%s, %s", view, theme).isEmpty();
    }
  }

  private static final String CONTRAST =
      """
      () => {
        const canvas = document.createElement('canvas');
        canvas.width = canvas.height = 1;
        const pen = canvas.getContext('2d', {willReadFrequently: true});
        // Whatever the colour is written in, painted over what lies below it.
        const over = (colour, below) => {
          pen.fillStyle = `rgb(${below.join(' ')})`;
          pen.fillRect(0, 0, 1, 1);
          pen.fillStyle = colour;
          pen.fillRect(0, 0, 1, 1);
          return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
        };
        const light = rgb => {
          const [r, g, b] = rgb.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ground = element => {
          const chain = [];
          for (let e = element; e; e = e.parentElement) chain.unshift(e);
          return chain.reduce((below, e) => over(getComputedStyle(e).backgroundColor, below), [255, 255, 255]);
        };
        const poor = new Set();
        for (const element of document.querySelectorAll('body *')) {
          const own = [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
          const box = element.getBoundingClientRect();
          const style = getComputedStyle(element);
          if (!own || !box.width || style.visibility === 'hidden' || Number(style.opacity) === 0 || element.closest('#message, noscript, option, title, style, script')) continue;
          const drawn = element instanceof SVGElement;
          let below = ground(drawn ? element.closest('svg').parentElement : element);
          // A number lies on its tile, a name in its box.
          const tile = element.matches('.label') ? element.previousElementSibling : drawn && element.closest('.flows')?.querySelector('.box');
          if (tile) below = over(getComputedStyle(tile).fill, below);
          const text = over(drawn ? style.fill : style.color, below);
          const [a, b] = [light(text), light(below)].sort((x, y) => y - x);
          const ratio = (a + 0.05) / (b + 0.05);
          if (ratio < 4.5) poor.add(`${element.tagName}.${element.getAttribute('class') ?? ''} ${ratio.toFixed(2)} ${element.textContent.trim().slice(0, 30)}`);
        }
        return [...poor].slice(0, 12);
      }
      """;
}
