package dev.warpwright.cli.explore;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Download;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Orders as files, and files that are none. */
final class FilesPageTest extends PageTest {
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
}
