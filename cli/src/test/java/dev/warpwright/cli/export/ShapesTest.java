package dev.warpwright.cli.export;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.Main;
import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.tuning.GemmArguments;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.verify.shapes.RandomGemm;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Shapes that nobody has prepared; the seed is the date, and is printed. */
final class ShapesTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private int run(String... args) {
    return Main.execute(
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8),
        args);
  }

  @Test
  void aSeedGivesTheSameShapesOfEveryTypeAndLayout() {
    List<RandomGemm> shapes = RandomGemm.of(7, 400);
    assertThat(RandomGemm.of(7, 100)).isEqualTo(shapes.subList(0, 100));
    assertThat(RandomGemm.of(8, 100)).isNotEqualTo(shapes.subList(0, 100));
    assertThat(new HashSet<>(shapes)).hasSize(400);
    for (String word :
        List.of(
            "bf16",
            "f16",
            "tf32",
            "f32",
            "e4m3",
            "int8",
            "=nn",
            "=nt",
            "=tn",
            "=tt",
            "act=sin",
            "bias=1",
            "beta=",
            "alpha=",
            "scale=both",
            "gate=1",
            "residual=1",
            "out=f32")) {
      assertThat(shapes).anyMatch(shape -> shape.text().contains(word));
    }
    assertThat(shapes).anyMatch(shape -> shape.workload().m() * shape.workload().n() % 2 == 1);
    assertThat(shapes)
        .allSatisfy(
            shape ->
                assertThat(GemmArguments.read(new KeyValues(List.of(shape.text().split(" ")))))
                    .isEqualTo(shape.workload()));
    assertThat(run("shapes", "--list", "--count", "3", "--seed", "7")).isEqualTo(ExitCode.OK);
    assertThat(out.toString(StandardCharsets.UTF_8).lines())
        .hasSize(4)
        .contains("gemm " + shapes.getFirst().text());
  }

  @Test
  void eachCanBeExportedAndCompiledWithoutSpills() {
    if (CudaCompilers.system().isEmpty()) {
      System.err.println("no CUDA compiler: random shapes are not compiled");
    }
    Assumptions.assumeTrue(CudaCompilers.system().isPresent(), "no CUDA compiler");
    assertEachCompiles("sm_90a", Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay()));
    assertEachCompiles("sm_80", -Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay()));
  }

  /** Two shapes of the day for each target, also where there is no compiler. */
  @Test
  void theSimulatorFindsNothingAtReducedSizes() {
    long seed = Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay());
    for (String target : List.of("sm_80", "sm_86", "sm_89", "sm_90a")) {
      seed += 100_000;
      out.reset();
      int code =
          run(
              "shapes",
              "--no-compile",
              "--simulate",
              "--count=2",
              "--target=" + target,
              "--seed=" + seed);
      String said = out.toString(StandardCharsets.UTF_8);
      // What could not be reduced is told in front of the two last lines.
      System.err.println(target + ": " + said);
      assertThat(code).as(said + err.toString(StandardCharsets.UTF_8)).isEqualTo(ExitCode.OK);
      assertThat(said).contains(": 0 failed", " simulated at reduced sizes, ");
    }
  }

  @Test
  void somethingIsDoneWithEachShape() {
    assertThat(run("shapes", "--no-compile")).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("--no-compile");
  }

  /** Other shapes for each target and on each day: 12 of them in all. */
  private void assertEachCompiles(String target, long seed) {
    out.reset();
    int code = run("shapes", "--count", "6", "--target", target, "--seed", Long.toString(seed));
    String said = out.toString(StandardCharsets.UTF_8);
    System.err.println(said.lines().reduce("", (a, b) -> b));
    assertThat(code).as(said + err.toString(StandardCharsets.UTF_8)).isEqualTo(ExitCode.OK);
    assertThat(said).contains("6 shapes", ": 0 failed");
  }
}
