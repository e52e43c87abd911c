package dev.warpwright.cli.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.Main;
import dev.warpwright.cli.kernels.KernelFile;
import dev.warpwright.examples.ladder.Ladder;
import dev.warpwright.examples.ladder.Rung;
import dev.warpwright.ir.testing.StructuralEquality;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.schedule.trace.ScheduleText;
import dev.warpwright.schedule.trace.Trace;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A user's own function, scheduled by a file of steps or a trace. */
final class HandScheduleTest {
  static final String MATMUL =
      """
      primfunc matmul(A: f32[33, 70], B: f32[70, 60], C: f32[33, 60]) {
        for i in 33 {
          for j in 60 {
            for k in 70 {
              block C(vi: spatial(33) = i, vj: spatial(60) = j, vk: reduce(70) = k) {
                init {
                  C[vi, vj] = 0.0f32
                }
                C[vi, vj] = fma(A[vi, vk], B[vk, vj], C[vi, vj])
              }
            }
          }
        }
      }
      """;

  static final String STEPS =
      """
      # A thread for each element, neighbouring threads on neighbouring columns.
      copy, sum = cacheWrite(C, scope = local)
      by, ty = split(copy.v0, factor = 16)
      bx, tx = split(copy.v1, factor = 32)   // a warp's width
      reorder(by, bx, ty, tx)
      computeAt(C, tx)
      compactAll()
      bind(by, axis = blockIdx.y)
      bind(bx, axis = blockIdx.x)
      bind(ty, axis = threadIdx.y)
      bind(tx, axis = threadIdx.x)
      decomposeReduction(C, C.vk)
      """;

  @TempDir Path folder;

  private record Ran(int code, String out, String err) {}

  private static Ran run(String... arguments) {
    var out = new ByteArrayOutputStream();
    var err = new ByteArrayOutputStream();
    int code =
        Main.execute(
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8),
            arguments);
    return new Ran(
        code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }

  private String file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text).toString();
  }

  @Test
  void stepsMakeAKernelThatComputesWhatTheFunctionDoes() throws IOException {
    String function = file("matmul.ir", MATMUL);
    String steps = file("steps.txt", STEPS);
    Ran cuda = run("kernel", function, "--schedule", steps, "--cuda", "--target", "sm_80");
    assertThat(cuda.out).contains("// Grid 2 x 3, block 32 x 16.", "matmul(const float*");
    Ran simulated = run("kernel", function, "--schedule", steps, "--simulate", "--seed", "7");
    assertThat(simulated.code).as(simulated.err).isZero();
    assertThat(simulated.out)
        .contains("no findings", "the same results as the function matmul, bit by bit");
    Ran printed = run("kernel", function, "--schedule", steps, "--print");
    assertThat(printed.out)
        .contains("bind v1_i: threadIdx.x in 32", "alloc C_local: f32[1, 1] local");
    Ran lowered = run("kernel", function, "--schedule", steps, "--lower");
    assertThat(lowered.out)
        .startsWith("kernel matmul(A: f32[33, 70]")
        .contains("bx * 32 + tx < 60", "fma");
  }

  @Test
  void aFunctionWithoutScheduleRunsOnTheProcessor() throws IOException {
    Ran ran = run("kernel", file("matmul.ir", MATMUL), "--run", "--seed", "1");
    assertThat(ran.code).as(ran.err).isZero();
    assertThat(ran.out).contains("matmul on CPU", "verified", "the same results as the function");
    assertThat(run("kernel", folder.resolve("matmul.ir").toString(), "--cuda").err)
        .contains("matmul.ir: no loop of matmul is bound to blockIdx and threadIdx");
  }

  @Test
  void exportsTheScheduledFunctionWithATraceThatGivesTheSameKernel() throws IOException {
    String function = file("matmul.ir", MATMUL);
    String out = folder.resolve("out").toString();
    Ran exported =
        run(
            "export",
            function,
            "--schedule",
            file("steps.txt", STEPS),
            "--target",
            "sm_80",
            "-o",
            out);
    assertThat(exported.code).as(exported.err).isZero();
    assertThat(folder.resolve("out/kernel.cuh")).content().contains("cacheWrite(C, scope = local)");
    Ran byTrace = run("kernel", function, "--schedule", out + "/trace.json", "--lower");
    Ran bySteps =
        run("kernel", function, "--schedule", folder.resolve("steps.txt").toString(), "--lower");
    assertThat(byTrace.code).as(byTrace.err).isZero();
    assertThat(byTrace.out).isEqualTo(bySteps.out);
  }

  static Stream<Rung> rungs() {
    return Ladder.RUNGS.stream();
  }

  /** What the ladder's schedules print as text is read back, and does the same. */
  @ParameterizedTest
  @MethodSource("rungs")
  void readsWhatSchedulesWrite(Rung rung) throws IOException {
    var matmul = Ladder.matmul(256, 256, 64);
    var schedule = rung.schedule(matmul);
    var file = KernelFile.read(Path.of(file("matmul.ir", IrPrinter.text(matmul))));
    Path steps = Path.of(file("steps.txt", ScheduleText.of(schedule.trace())));
    assertThat(
            StructuralEquality.difference(OwnProgram.of(file, steps).scheduled(), schedule.func()))
        .isEmpty();
    Path trace = Path.of(file("trace.json", schedule.trace().toJson()));
    assertThat(
            StructuralEquality.difference(OwnProgram.of(file, trace).scheduled(), schedule.func()))
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          bind(q, axis = blockIdx.x)           | q: no such loop; there are i, j, k
          split(D.i, factor = 2)               | D.i: no such block; there are C
          split(i, factor = 0)                 | split: the factor 0 is not positive (requirement 3 of docs/primitives.md#split)
          split(i)                             | split lacks 'factor'
          split(i, fcator = 4)                 | split lacks 'factor'; is 'fcator' meant?
          split(i, factor = 4, keep = 1)       | split takes no 'keep'
          splat(i)                             | there is no primitive 'splat'; is 'split' meant?
          compuetInline(C)                     | there is no primitive 'compuetInline'; is 'computeInline' meant?
          frobnicate(i)                        | there is no primitive 'frobnicate'
          bind(i, axis = sideways)             | bind is malformed: unknown thread axis 'sideways'
          split i by 4                         | 'split i by 4' is no step
          a, b, c = split(i, factor = 4)       | split gives 2 results
          split(i, factor = 4, factor = 8)     | factor is given twice
          annotate(key = note, value = "x)     | a quotation mark is missing
          split(1x, factor = 4)                | '1x' is no name of a loop, a block or a buffer
          bind(k, axis = threadIdx.x)          | bind: iterations of the bind loop k depend on each other through C
          """)
  void refusesInOneLineThatNamesTheLine(String step, String message) throws IOException {
    Ran refused =
        run(
            "kernel",
            file("matmul.ir", MATMUL),
            "--schedule",
            file("steps.txt", "\n# the second line is a comment\n" + step + "\n"),
            "--cuda");
    assertThat(refused.code).isEqualTo(2);
    assertThat(refused.err.strip())
        .startsWith("warpwright: steps.txt:3: " + message)
        .hasLineCount(1);
  }

  @Test
  void aBlockOfTooManyThreadsIsRefusedAsAStepIs() throws IOException {
    String steps = "b, t = split(i, factor = 4096)\nbind(b, axis = blockIdx.x)\n";
    for (String task : List.of("--lower", "--cuda", "--simulate")) {
      Ran refused =
          run(
              "kernel",
              file("matmul.ir", MATMUL),
              "--schedule",
              file("steps.txt", steps + "bind(t, axis = threadIdx.x)\n"),
              task);
      assertThat(refused.code).isEqualTo(2);
      assertThat(refused.err.strip())
          .startsWith("warpwright: ")
          .contains(" as it is scheduled: a block has 4096 threads, at most 1024")
          .hasLineCount(1);
    }
  }

  @Test
  void aLoopOfWhichThereAreTwoIsNamedByItsBlock() throws IOException {
    String twice =
        """
        primfunc twice(x: f32[8], y: f32[8], z: f32[8]) {
          for i in 8 {
            block y(v: spatial(8) = i) {
              y[v] = x[v] + 1.0f32
            }
          }
          for i in 8 {
            block z(v: spatial(8) = i) {
              z[v] = y[v] * 2.0f32
            }
          }
        }
        """;
    var file = KernelFile.read(Path.of(file("twice.ir", twice)));
    Path ambiguous = Path.of(file("steps.txt", "unroll(i)"));
    assertThatThrownBy(() -> OwnProgram.of(file, ambiguous))
        .isInstanceOf(UserError.class)
        .hasMessage(
            "steps.txt:1: i: several loops are called so; write BLOCK.i, or name them: a, b ="
                + " loops(BLOCK)");
    Path clear =
        Path.of(file("steps.txt", "unroll(z.i)\nannotate(key = note, value = \"1, k = 2\")"));
    Trace trace = OwnProgram.of(file, clear).trace();
    assertThat(ScheduleText.of(trace)).endsWith("annotate(key = note, value = \"1, k = 2\")\n");
    Path again = Path.of(file("again.txt", ScheduleText.of(trace)));
    assertThat(IrPrinter.text(OwnProgram.of(file, again).scheduled()))
        .isEqualTo(IrPrinter.text(OwnProgram.of(file, clear).scheduled()))
        .contains("unroll i in 8", "note = \"1, k = 2\"");
  }
}
