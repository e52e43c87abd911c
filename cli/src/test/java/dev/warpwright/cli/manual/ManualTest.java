package dev.warpwright.cli.manual;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.cli.Main;
import dev.warpwright.cli.command.ExitCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pages for man, and completion in shells. */
final class ManualTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  @TempDir Path folder;

  private String run(String... args) {
    out.reset();
    PrintStream to = new PrintStream(out, true, StandardCharsets.UTF_8);
    assertThat(Main.execute(to, to, args)).isEqualTo(ExitCode.OK);
    return out.toString(StandardCharsets.UTF_8);
  }

  /** bash itself is asked what it would complete. */
  @Test
  void bashCompletesCommandsAndOptions() throws IOException, InterruptedException {
    assumeTrue(Files.isExecutable(Path.of("/bin/bash")), "there is no bash");
    Path script = folder.resolve("warpwright");
    Files.writeString(script, run("completion"));
    assertThat(completed(script, "warpwright ex"))
        .containsExactlyInAnyOrder("explain", "explore", "export");
    assertThat(completed(script, "warpwright run --prec")).containsExactly("--precision");
  }

  private List<String> completed(Path script, String line)
      throws IOException, InterruptedException {
    String words = line.replace(" ", "' '");
    int last = line.split(" ").length - 1;
    String program =
        String.format(
            Locale.ROOT,
            "compopt() { :; }; source '%s'; COMP_WORDS=('%s'); COMP_CWORD=%d; COMP_LINE='%s';"
                + " _complete_warpwright; printf '%%s\\n' \"${COMPREPLY[@]}\"",
            script,
            words,
            last,
            line);
    Process process =
        new ProcessBuilder("/bin/bash", "-c", program).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output.lines().map(String::strip).filter(each -> !each.isEmpty()).toList();
  }

  @Test
  void everyCommandHasAPage() throws IOException {
    String wrote = run("manual", folder.toString());
    String help = run("--help");
    List<String> commands =
        help.lines()
            .dropWhile(each -> !each.equals("Commands:"))
            .filter(each -> each.matches("  [a-z]+ .*"))
            .map(each -> each.strip().split(" ")[0])
            .toList();
    assertThat(commands).hasSizeGreaterThan(12);
    for (String command : commands) {
      Path page = folder.resolve("warpwright-" + command + ".1");
      assertThat(page).exists();
      String text = Files.readString(page);
      assertThat(text)
          .startsWith(".TH \"WARPWRIGHT\\-" + command.toUpperCase(Locale.ROOT) + "\" 1")
          .contains(".SH SYNOPSIS\n", ".SH OPTIONS\n", "\\fB\\-\\-json\\fR", ".SH EXIT STATUS");
    }
    assertThat(wrote).contains("pages into");
    assertThat(folder.resolve("warpwright-manual.1")).as("hidden").doesNotExist();
    assertThat(Files.readString(folder.resolve("warpwright-run.1")))
        .contains("\\fB\\-\\-beside\\fR=\\fIFILE\\fR\nOf a picture");
  }

  /** A line that begins with a dot or a quote would be a command of roff's. */
  @Test
  void noTextIsACommand() throws IOException {
    run("manual", folder.toString());
    try (var pages = Files.list(folder)) {
      for (Path page : pages.toList()) {
        assertThat(Files.readAllLines(page).stream().filter(each -> each.matches("[.'].*")))
            .as(page.toString())
            .allMatch(each -> each.matches("\\.(TH|SH|TP|PP|nf|fi|B|I|BR)( .*)?"));
      }
    }
  }
}
