package dev.warpwright.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

final class LiveProgressTest {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final PrintStream err = new PrintStream(bytes, true, StandardCharsets.UTF_8);
  private long nanos;

  private String written() {
    return bytes.toString(StandardCharsets.UTF_8).replace(System.lineSeparator(), "\n");
  }

  @Test
  void inAFileThereIsALineForNewsAndOneEveryFiveSeconds() {
    LiveProgress progress = new LiveProgress(err, false, 80, () -> nanos);
    progress.status("first", false);
    progress.status("hidden", false);
    progress.status("news", true);
    nanos += 6_000_000_000L;
    progress.status("later", false);
    progress.say("said");
    progress.end();
    assertThat(written())
        .isEqualTo("warpwright: first\nwarpwright: news\nwarpwright: later\nwarpwright: said\n");
  }

  @Test
  void inATerminalTheLineIsDrawnOverItself() {
    LiveProgress progress = new LiveProgress(err, true, 24, () -> nanos);
    progress.status("one", false);
    progress.status("too early", false);
    nanos += 200_000_000L;
    progress.status("a line that is too long for it", false);
    progress.say("said");
    progress.end();
    progress.end();
    String clear = "\r\u001b[K";
    assertThat(written())
        .isEqualTo(
            clear
                + "warpwright: one"
                + clear
                + "warpwright: a line that"
                + clear
                + "warpwright: said\n"
                + "warpwright: a line that\n");
  }
}
