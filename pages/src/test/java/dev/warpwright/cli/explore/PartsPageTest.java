package dev.warpwright.cli.explore;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Download;
import com.microsoft.playwright.Locator;
import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Partial sums of the second GEMM on a board: a tile of E in slices, a part of its K each. */
final class PartsPageTest extends PageTest {
  @BeforeEach
  void chained() {
    set("Rows of tiles", "2");
    set("Columns", "4");
    set("Columns of a second GEMM", "2");
    set("Cache, blocks", "7");
    page.getByText("Results go through the cache").click();
  }

  private Locator fill() {
    return page.getByLabel("Fill with a ready-made order");
  }

  private Locator parts() {
    return page.getByLabel("Parts of the K of the second GEMM");
  }

  private Locator slice(int row, int column, int part) {
    return page.locator(
        "[data-tile='1:" + row + ":" + column + (part == 0 ? "" : ":" + part) + "']");
  }

  @Test
  void tilesAreDrawnInSlicesAlongThePath() {
    assertThat(page.locator(".tile").count()).isEqualTo(2 * (4 + 2));
    fill().selectOption("partial:2");
    assertThat(page.locator(".tile").count()).isEqualTo(2 * (4 + 2 * 2));
    assertThat(figure("Tiles")).isEqualTo("16 / 16");
    assertThat(parts().inputValue()).isEqualTo("2");
    // C(0,0), C(0,1), E(0,0) and E(0,1) in part 0: from C to E and back, twice a row.
    assertThat(page.locator(".path.across").getAttribute("d").split("M", -1)).hasSize(1 + 7);
    assertThat(page.locator("[data-tile='1:0:0'] + .label").textContent()).isEqualTo("2");
    assertThat(page.locator("[data-tile='1:0:1:1'] + .label").textContent()).isEqualTo("7");
    slice(0, 1, 1).hover();
    assertThat(page.locator(".told").first().textContent())
        .startsWith("part 1 of tile (0, 1) of E, step 8. part 1 of row 0 of C: ")
        .contains("partial sum is read back from memory");
    slice(0, 0, 0).hover();
    assertThat(page.locator(".told").first().textContent()).contains("is the first part");
    set("Cache, blocks", "20");
    slice(0, 1, 1).hover();
    assertThat(page.locator(".told").first().textContent())
        .contains("partial sum is still in the cache");
    page.getByLabel("Step", exactly()).fill("3");
    assertThat(slice(0, 0, 0).getAttribute("class")).contains("now");
    assertThat(slice(0, 0, 1).getAttribute("class")).contains("later").contains("held");
  }

  private static com.microsoft.playwright.Page.GetByLabelOptions exactly() {
    return new com.microsoft.playwright.Page.GetByLabelOptions().setExact(true);
  }

  @Test
  void partsAreDrawnByHand() {
    parts().selectOption("2");
    slice(0, 0, 1).click();
    assertThat(message())
        .isEqualTo("part 1 of row 0 of the first GEMM has to be done in an earlier step");
    tile(0, 2).click();
    tile(0, 3).click();
    slice(0, 0, 1).click();
    assertThat(figure("Tiles")).isEqualTo("3 / 16");
    // A lower part may come later; the tiles of C stay where the parts change.
    parts().selectOption("4");
    assertThat(figure("Tiles")).isEqualTo("2 / 24");
    button("Undo").click();
    assertThat(figure("Tiles")).isEqualTo("3 / 16");
    assertThat(parts().inputValue()).isEqualTo("2");
    fill().selectOption("rows:1");
    assertThat(figure("Tiles")).isEqualTo("12 / 12");
    assertThat(parts().inputValue()).isEqualTo("1");
  }

  @Test
  void linksAndFilesKeepThem() throws IOException {
    fill().selectOption("partial:4:4");
    String loads = figure("Loads");
    Download text = page.waitForDownload(() -> button("As text").click());
    Download csv = page.waitForDownload(() -> button("CSV").first().click());
    assertThat(Files.readString(text.path()))
        .startsWith("t1 = 1, parts = 4 Order 0: [(0, 0, 0), (0, 1, 0), (0, 0, 1, 0), ");
    assertThat(Files.readString(csv.path())).contains("\n8,1:0:0:1,");
    // The address follows a moment later; this link is of what is shown.
    button("Copy link").click();
    Locator share = page.getByLabel("Link", exactly());
    page.waitForCondition(() -> !share.inputValue().isEmpty());
    String link = share.inputValue();
    page.navigate("about:blank");
    page.navigate(link);
    awaitFigure("Tiles", "24 / 24");
    assertThat(figure("Loads")).isEqualTo(loads);
    assertThat(parts().inputValue()).isEqualTo("4");
    fill().selectOption("row");
    load("order.txt", Files.readString(text.path()));
    awaitFigure("Tiles", "24 / 24");
    assertThat(figure("Loads")).isEqualTo(loads);
    load("order.txt", "t1 = 1, parts = 2 Order 0: [(0, 0, 0), (0, 0, 1, 1)]");
    assertThat(message()).contains("comes before part 1 of row 0 of GEMM 0 is done");
  }

  /** What is proven counts orders in parts, too, so that none of these beats it. */
  @Test
  void theyAreRankedAndSearched() {
    fill().selectOption("partial:2");
    page.locator("table.rank").getByText("partial sums, K in 4 parts, 4 rows").waitFor();
    button("Find the best order").click();
    page.getByText("proven, no order needs fewer").waitFor();
    assertThat(figure("Tiles")).isEqualTo("16 / 16");
    assertThat(figure("Loads")).contains("proven");
  }
}
