package dev.warpwright.cli.program;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.Main;
import dev.warpwright.model.npy.NpyFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One's own kernel on one's own data, and what its threads hold. */
final class OwnCheckTest {
  @TempDir Path folder;

  private record Ran(int code, String out, String err) {}

  @BeforeEach
  void files() throws IOException {
    OwnFiles.write(folder);
    float[] a = new float[24];
    for (int i = 0; i < a.length; i++) {
      a[i] = i;
    }
    NpyFile.write(folder.resolve("A.npy"), List.of(4L, 6L), a);
    float[] b = new float[30];
    java.util.Arrays.fill(b, 1);
    b[29] = 2;
    NpyFile.write(folder.resolve("weights.npy"), List.of(6L, 5L), b);
  }

  private Ran run(String arguments) {
    String[] words = arguments.split(" ");
    for (int i = 0; i < words.length; i++) {
      words[i] = words[i].replace("@", folder + "/");
    }
    var out = new ByteArrayOutputStream();
    var err = new ByteArrayOutputStream();
    int code =
        Main.execute(
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8),
            words);
    return new Ran(
        code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }

  @Test
  void printsWhatTheKernelLeaves() {
    Ran ran = run("check @small.kernel --input @A.npy --input B=@weights.npy --print C --seed 1");
    assertThat(ran.code).as(ran.err).isZero();
    assertThat(ran.out.lines())
        .containsExactly(
            "C: f32[4, 5]",
            "   15   15   15   15   20",
            "   51   51   51   51   62",
            "   87   87   87   87  104",
            "  123  123  123  123  146",
            "checked small for m=4 on A, B with seed 1: no findings");
    Ran json = run("check @small.kernel --input @A.npy --input @weights.npy --print C,A --json");
    assertThat(json.out)
        .contains(
            "\"name\": \"C\", \"dtype\": \"f32\", \"shape\": [4, 5], \"values\": [15.0, 15.0");
  }

  @Test
  void showsWhatEachThreadHoldsStepByStep() {
    Ran ran =
        run(
            "check @small.kernel --input @A.npy --input B=@weights.npy --steps 1-4 --block 2"
                + " --seed 1");
    assertThat(ran.code).as(ran.err).isZero();
    assertThat(ran.out.lines().toList())
        .startsWith(
            "         thread          1          2          3          4",
            "line 4   let row: i32 = by",
            "            row          2          2          2          2",
            "line 6   s[ramp(tx * 2, 1, 2)] = A[row, ramp(tx * 2, 1, 2)]",
            "              s     [2] 14     [4] 16          -          -")
        .contains(
            "line 8   sync_threads()",
            "         acc[0]         70         70         70         70",
            "         acc[0]         87         87         87        104",
            "              C   [2,1] 87   [2,2] 87   [2,3] 87  [2,4] 104")
        .hasSize(25);
    Ran none = run("check @small.kernel --steps 1-4 --block 0,2");
    assertThat(none.out).startsWith("no steps: block [0, 2] has no threads 1-4");
  }

  /** What is shown is what the kernel does without being watched: the results are the same. */
  @Test
  void watchingChangesNothing() {
    String plain = run("check @small.kernel --input @A.npy --print C --seed 9").out;
    String watched =
        run("check @small.kernel --input @A.npy --print C --steps 0-4 --seed 9 --json").out;
    String json = run("check @small.kernel --input @A.npy --print C --seed 9 --json").out;
    assertThat(plain).contains("no findings");
    assertThat(watched.substring(watched.indexOf("\"arrays\"")))
        .isEqualTo(json.substring(json.indexOf("\"arrays\"")));
  }

  @Test
  void tellsOfARaceOnOnesOwnData() {
    Ran ran = run("check @race.kernel --input @A.npy --print C");
    assertThat(ran.code).isEqualTo(1);
    assertThat(ran.out).containsIgnoringCase("race").contains("finding");
  }

  @Test
  void runsAScheduledFunctionToo() throws IOException {
    Files.writeString(folder.resolve("matmul.ir"), HandScheduleTest.MATMUL);
    Files.writeString(folder.resolve("steps.txt"), HandScheduleTest.STEPS);
    Ran ran = run("check @matmul.ir --schedule @steps.txt --steps 0-1 --print C --seed 3");
    assertThat(ran.code).as(ran.err).isZero();
    assertThat(ran.out).contains("C_local[0, 0]", "C: f32[33, 60]", "no findings");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          --print Q                     | --print Q: there is no such buffer; there are A, B, C
          --input @A.npy m=7            | A: the file has shape [4, 6], the buffer [7, 6]
          --input A=@A.npy --input @A.npy | --input
          --steps x                     | --steps x: threads of a block, at most 64, as 0-7
          --steps 7-3                   | --steps 7-3: threads of a block, at most 64, as 0-7
          --input @none.npy             | @none.npy: no such file
          --schedule @A.npy             | @small.kernel: --schedule is for a file of one primfunc
          --print C --counters          | --input, --print, --steps and --schedule: for a file of one
          """)
  void refusesInOneLine(String options, String message) {
    Ran ran = run("check @small.kernel " + options);
    assertThat(ran.code).isEqualTo(2);
    assertThat(ran.err.strip())
        .startsWith("warpwright: " + message.replace("@", folder + "/"))
        .hasLineCount(1);
  }
}
