package dev.warpwright.cli.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.Main;
import dev.warpwright.cli.kernels.KernelFile;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.sim.Arguments;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.verify.SampledPrediction;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The search over schedules of a user's own function. */
final class FunctionTuneTest {
  /** Rows of a softmax: sums that are no tiles, over a number that nothing divides. */
  private static final String SOFTMAX =
      """
      primfunc softmax(x: f32[R, 37], y: f32[R, 37], R: i32 in 1..1000) {
        alloc m: f32[R]
        alloc t: f32[R]
        for i in R {
          for k in 37 {
            block m(vi: spatial(R) = i, vk: reduce(37) = k) {
              init {
                m[vi] = -f32.inf
              }
              m[vi] = max(m[vi], x[vi, vk])
            }
          }
        }
        for i in R {
          for k in 37 {
            block t(vi: spatial(R) = i, vk: reduce(37) = k) {
              init {
                t[vi] = 0.0f32
              }
              t[vi] = t[vi] + exp(x[vi, vk] - m[vi])
            }
          }
        }
        for i in R {
          for j in 37 {
            block y(vi: spatial(R) = i, vj: spatial(37) = j) {
              y[vi, vj] = exp(x[vi, vj] - m[vi]) / t[vi]
            }
          }
        }
      }
      """;

  /** A batch of layers in f16 with an epilogue, its weights transposed, its sums in f32. */
  private static final String LAYER =
      """
      primfunc layer(x: f16[R, 33, 40], w: f16[25, 40], b: f32[25], y: f16[R, 33, 25], R: i32 in 1..64) {
        alloc s: f32[R, 33, 25]
        for n in R {
          for i in 33 {
            for j in 25 {
              for k in 40 {
                block s(vn: spatial(R) = n, vi: spatial(33) = i, vj: spatial(25) = j, vk: reduce(40) = k) {
                  init {
                    s[vn, vi, vj] = 0.0f32
                  }
                  s[vn, vi, vj] = fma(f32(x[vn, vi, vk]), f32(w[vj, vk]), s[vn, vi, vj])
                }
              }
            }
          }
        }
        for n in R {
          for i in 33 {
            for j in 25 {
              block y(vn: spatial(R) = n, vi: spatial(33) = i, vj: spatial(25) = j) {
                y[vn, vi, vj] = f16(max(s[vn, vi, vj] + b[vj], 0.0f32))
              }
            }
          }
        }
      }
      """;

  private static final String SCALE =
      """
      primfunc scale(x: f32[R], y: f32[R], R: i32 in 1..100000) {
        for i in R {
          block y(vi: spatial(R) = i) {
            y[vi] = x[vi] * 2.0f32 + 1.0f32
          }
        }
      }
      """;

  @TempDir Path folder;

  private PrimFunc function(String text, Map<String, Long> values) throws IOException {
    Path file = Files.writeString(folder.resolve("f.ir"), text);
    return FunctionShape.of(OwnProgram.of(KernelFile.read(file), null).function(), values);
  }

  private static Map<String, Long> rows(String text, long rows) {
    return text.equals(HandScheduleTest.MATMUL) ? Map.of() : Map.of("R", rows);
  }

  /** Whatever is drawn computes what the function computes; both sketches and staging are drawn. */
  @ParameterizedTest
  @ValueSource(strings = {HandScheduleTest.MATMUL, SOFTMAX, LAYER, SCALE})
  void everyScheduleThatIsDrawnKeepsTheResults(String text) throws IOException {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("seed " + seed);
    PrimFunc function = function(text, rows(text, 3));
    FunctionSpace space = new FunctionSpace(function);
    SplittableRandom random = new SplittableRandom(seed);
    int right = 0;
    for (int i = 0; i < 40 && right < 4; i++) {
      Space.Drawn drawn = space.space().sample(random);
      if (drawn.candidate() != null) {
        FunctionSpace.Made made = space.made(drawn.candidate());
        FunctionComparison comparison =
            FunctionComparison.of(function, made.kernel(), Map.of(), seed);
        assertThat(comparison.equal())
            .as("seed %d, %s: %s", seed, made.point(), comparison.text())
            .isTrue();
        right++;
      }
    }
    assertThat(right).as("seed %d", seed).isPositive();
  }

  @Test
  void writesWhatTheCommandKernelTakes() throws IOException {
    String file = Files.writeString(folder.resolve("softmax.ir"), SOFTMAX).toString();
    String out = folder.resolve("tuned").toString();
    String tuned = run("tune", file, "R=70", "t=3", "seed=5", "-o", out);
    assertThat(tuned)
        .contains("softmax: 3 schedules", "the same results as the function", "into " + out);
    String simulated =
        run(
            "kernel",
            out + "/function.ir",
            "--schedule",
            out + "/schedule.txt",
            "--simulate",
            "--seed",
            "3");
    assertThat(simulated).contains("no findings", "the same results as the function softmax");
    assertThat(run("kernel", out + "/function.ir", "--schedule", out + "/trace.json", "--lower"))
        .isEqualToIgnoringWhitespace(Files.readString(Path.of(out, "kernel.kernel")));
    assertThat(run("tune", file, "R=70", "t=3", "seed=5", "--json"))
        .contains("\"measured\": false", "\"schedule\": \"sketch=");
  }

  private static String run(String... arguments) {
    var out = new ByteArrayOutputStream();
    var print = new PrintStream(out, true, StandardCharsets.UTF_8);
    var err = new ByteArrayOutputStream();
    int code = Main.execute(print, new PrintStream(err, true, StandardCharsets.UTF_8), arguments);
    assertThat(code).as(err.toString(StandardCharsets.UTF_8)).isZero();
    return out.toString(StandardCharsets.UTF_8);
  }

  /** Staging through shared memory and tiles of registers ask memory for less, so it is shorter. */
  @Test
  void predictsThatTilesBeatAThreadForEachElement() throws IOException {
    String large =
        HandScheduleTest.MATMUL.replace("33", "1024").replace("60", "1024").replace("70", "64");
    PrimFunc function = function(large, Map.of());
    Arguments arguments = Arguments.random(function.params(), 1);
    double tiles = predicted(function, arguments, "sketch=tiles");
    double plain =
        predicted(function, arguments, "sketch=tiles rows=1 vectors=1 vector=1 depth=1 shared=0");
    assertThat(tiles).isPositive().isLessThan(plain);
  }

  private static double predicted(PrimFunc function, Arguments arguments, String point) {
    FunctionSpace space = new FunctionSpace(function);
    Space.Drawn drawn = space.space().replay(Point.parse(point));
    FunctionSpace.Made made = space.made(drawn.candidate());
    return SampledPrediction.of(
            made.kernel(),
            FunctionComparison.sharing(made.kernel().params(), arguments),
            DeviceCatalogue.find("H200 SXM").orElseThrow())
        .micros();
  }

  @Test
  void saysWhatIsMissingInOneLine() throws IOException {
    assertThatThrownBy(() -> function(SCALE, Map.of()))
        .isInstanceOf(UserError.class)
        .hasMessage("scale: no value for R; give R=N");
    assertThatThrownBy(() -> function(SCALE, Map.of("R", 0L)))
        .hasMessage("R=0: scale takes 1 to 100000");
    assertThatThrownBy(() -> function(SCALE, Map.of("R", 5L, "Q", 1L)))
        .hasMessage("Q=: scale has no such scalar; it has R");
    String two =
        SCALE.replace("y: f32[R],", "y: f32[R], z: f32[R],").replaceFirst("(?s)\\}\\n$", "");
    String both =
        two
            + "  for i in R {\n    block z(vi: spatial(R) = i) {\n      z[vi] = x[vi]\n    }\n  }\n}\n";
    Path file = Files.writeString(folder.resolve("two.ir"), both);
    var err = new ByteArrayOutputStream();
    var print = new PrintStream(err, true, StandardCharsets.UTF_8);
    assertThat(Main.execute(print, print, "tune", file.toString(), "R=5", "t=2")).isEqualTo(2);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("scale: no schedule of it was found (the function has several results")
        .hasLineCount(1);
  }
}
