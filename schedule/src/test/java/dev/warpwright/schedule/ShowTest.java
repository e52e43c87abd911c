package dev.warpwright.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.text.IrPrinter;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

final class ShowTest {
  private static Schedule schedule() {
    Schedule s = new Schedule(Samples.matmul(4, 6, 8));
    LoopRef i = s.loops(s.block("c")).get(0);
    s.annotate(i, "note", "for \"you\" // 4");
    return s;
  }

  @Test
  void coloursChangeNothingElse() {
    Schedule s = schedule();
    String coloured = s.text(true);
    assertThat(coloured.replaceAll("\u001b\\[\\d+m", "")).isEqualTo(s.text(false));
    assertThat(s.text(false)).isEqualTo(IrPrinter.text(s.func()));
    assertThat(coloured)
        .contains("\u001b[35mprimfunc\u001b[0m f(a: \u001b[36mf32\u001b[0m[\u001b[33m4\u001b[0m")
        .contains("[note = \u001b[32m\"for \\\"you\\\" // 4\"\u001b[0m]")
        .contains("\u001b[33m0.0f32\u001b[0m");
  }

  @Test
  void showPrintsTheProgram() {
    Schedule s = schedule();
    PrintStream out = System.out;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    try {
      s.show();
    } finally {
      System.setOut(out);
    }
    assertThat(bytes.toString(StandardCharsets.UTF_8)).isIn(s.text(false), s.text(true));
  }
}
