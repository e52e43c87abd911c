package dev.warpwright.cli.explore;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The board: clicking, keys, touch, two boards, parameters, links. */
final class BoardPageTest extends PageTest {
  @Test
  void clickingTilesMakesAnOrder() {
    button("Reset").click();
    tile(0, 0).click();
    tile(0, 1).click();
    tile(1, 1).click();
    assertThat(figure("Loads")).startsWith("4 ");
    assertThat(figure("Hits")).startsWith("2");
    assertThat(figure("Tiles")).isEqualTo("3 / 36");
    assertThat(page.locator(".path:not(.across)").getAttribute("d"))
        .matches("M[\\d. ]+L[\\d. ]+L[\\d. ]+");
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
  @VisitsFirst
  void touchWorksOnASmallScreen() {
    visit(NARROW, BLOCKS);
    button("Reset").tap();
    tile(0, 0).tap();
    tile(1, 0).tap();
    assertThat(figure("Tiles")).isEqualTo("2 / 36");
  }

  @Test
  void badParametersGetAMessage() {
    set("Rows of tiles", "1000");
    assertThat(message()).contains("Rows of tiles must be a whole number between 1 and 128");
    set("Rows of tiles", "6");
    set("Cache, blocks", "1");
    page.getByText("cannot hold what is used").waitFor();
  }

  @Test
  void aLinkBringsTheBoardAlong() {
    page.getByLabel("Fill with a ready-made order").selectOption("morton");
    String loads = figure("Loads");
    button("Copy link").click();
    // The board is packed first.
    page.waitForCondition(() -> !page.getByLabel("Link").inputValue().isEmpty());
    String link = page.getByLabel("Link").inputValue();
    assertThat(link).startsWith(address().replace("localhost", "127.0.0.1") + "#board=");
    visit(WIDE, link.substring(link.indexOf('#')));
    awaitFigure("Tiles", "36 / 36");
    assertThat(figure("Loads")).isEqualTo(loads);
    visit(WIDE, "#board=%3Cscript%3E");
    assertThat(message()).contains("holds no board");
  }

  /** The address holds the largest boards, and what cannot be a board is refused. */
  @Test
  void aLargeBoardIsInItsAddress() {
    set("Rows of tiles", "80");
    set("Columns", "80");
    set("Cache, blocks", "40");
    page.getByLabel("Fill with a ready-made order").selectOption("hilbert");
    String loads = figure("Loads");
    page.waitForCondition(() -> page.url().contains("#board=z.") && page.url().length() > 2000);
    String url = page.url();
    assertThat(url.length()).isLessThan(40_000);
    visit(WIDE, url.substring(url.indexOf('#')));
    awaitFigure("Tiles", "6,400 / 6,400");
    assertThat(figure("Loads")).isEqualTo(loads);
    // 64 MB of blanks, packed.
    String bomb =
        (String)
            page.evaluate(
                """
                async () => {
                  const packed = new Blob([' '.repeat(1 << 26)]).stream().pipeThrough(new CompressionStream('deflate-raw'));
                  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
                  let binary = '';
                  for (const byte of bytes) binary += String.fromCharCode(byte);
                  return 'z.' + btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
                }
                """);
    page.evaluate("text => (location.hash = `#board=${text}`)", bomb);
    assertThat(message()).contains("holds no board");
    assertThat(figure("Tiles")).isEqualTo("6,400 / 6,400");
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
}
