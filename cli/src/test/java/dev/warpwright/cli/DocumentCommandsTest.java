package dev.warpwright.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.runtime.cuda.CudaDriver;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The tutorial and the how-tos: each command they show is run, with the files they show. */
final class DocumentCommandsTest {
  private static final Pattern FILE =
      Pattern.compile("Save as `work/(\\S+)`:\\n\\n *```\\n(.*?)```", Pattern.DOTALL);
  private static final Pattern COMMANDS = Pattern.compile("```sh\\n(.*?)```", Pattern.DOTALL);

  /** Commands that two documents show are run once. */
  private static final Set<String> DONE = new HashSet<>();

  @TempDir Path work;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tutorial.md",
        "howto/java-developer.md",
        "howto/kernel-engineer.md",
        "howto/own-program.md",
        "schemas/README.md",
        "howto/researcher.md",
        "howto/teacher.md"
      })
  void everyCommandDoesWhatThePageSays(String document) throws IOException {
    String text = Files.readString(Path.of("..", "docs").resolve(document));
    Matcher files = FILE.matcher(text);
    while (files.find()) {
      Files.writeString(work.resolve(files.group(1)), files.group(2));
    }
    List<String> lines =
        COMMANDS
            .matcher(text)
            .results()
            .flatMap(block -> block.group(1).lines())
            .map(String::strip)
            .filter(line -> !line.isEmpty())
            .toList();
    assertThat(lines).isNotEmpty().allMatch(line -> line.startsWith("warpwright "));
    for (String line : lines) {
      if (DONE.add(line)) {
        run(line);
      }
    }
  }

  private void run(String line) {
    String[] parts = line.split(" # ", 2);
    int expected =
        switch (parts.length == 1 ? "" : parts[1]) {
          case "" -> ExitCode.OK;
          case "needs a GPU" -> CudaDriver.find().isPresent() ? ExitCode.OK : ExitCode.DEVICE;
          case "finds a race" -> ExitCode.WRONG;
          default -> throw new IllegalArgumentException(line);
        };
    List<String> words = List.of(parts[0].strip().split(" +"));
    String[] arguments =
        words.stream()
            .skip(1)
            .map(
                word ->
                    word.startsWith("work/")
                        ? work.resolve(word.substring("work/".length())).toString()
                        : word.startsWith("models/") || word.startsWith("kernels/")
                            ? Path.of("..", word).toString()
                            : word)
            .toArray(String[]::new);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream both = new PrintStream(out, true, StandardCharsets.UTF_8);
    int code = Main.execute(both, both, arguments);
    String said = out.toString(StandardCharsets.UTF_8);
    assertThat(code).as("%s%n%s", line, said).isEqualTo(expected);
    if (words.contains("--beside")) {
      // As near as info.json of the network says: its places are those it was trained on.
      assertThat(said).contains("PSNR 31.47 dB beside ");
    }
    if (expected == ExitCode.WRONG) {
      assertThat(said).containsIgnoringCase("race");
    }
  }
}
