package dev.warpwright.cli.explore;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The search for the best order, as the page shows it. */
final class SearchPageTest extends PageTest {
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
}
