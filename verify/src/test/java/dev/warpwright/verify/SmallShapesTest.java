package dev.warpwright.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Shapes that follow from a kernel's text, and what {@code check} does with them. */
final class SmallShapesTest {
  /** Adds 1 in each thread but for one mistake: {@code LIMIT} rows are stored. */
  private static final String COPY =
      """
      kernel product(A: f32[M, K], B: f32[N, K], C: f32[M, N], M: i32 in 1..4096, N: i32 in 1..4096,
          K: i32 in 1..4096)
          grid(bx = (N + 31) / 32, by = M) block(tid = 32) [workload = "gemm_nt"] {
        if bx * 32 + tid < LIMIT {
          alloc sum: f32[] local
          sum[] = 0.0f32
          for k in STEPS {
            sum[] = fma(A[by, k], B[bx * 32 + tid, k], sum[])
          }
          C[by, bx * 32 + tid] = VALUE
        }
      }
      """;

  private static Kernel kernel(String limit, String steps, String value) {
    String text = COPY.replace("LIMIT", limit).replace("STEPS", steps).replace("VALUE", value);
    return new IrParser(Intrinsics::find).kernel("product", text);
  }

  private static Kernel file(String name) throws IOException {
    return new IrParser(Intrinsics::find)
        .kernel(name, Files.readString(Path.of("..", "kernels", name + ".kernel")));
  }

  private static List<Map<String, Long>> shapes(Kernel kernel, CheckOptions options) {
    return SmallShapes.of(kernel, options).stream().map(SmallShapes::scalars).toList();
  }

  @Test
  void aPersistentGridGetsMoreTilesThanClusters() throws IOException {
    List<Map<String, Long>> shapes = shapes(file("gemm_bf16_sm90"), CheckOptions.of(1));
    assertThat(shapes)
        .allSatisfy(shape -> assertThat(shape.get("N") % 8 + shape.get("K") % 8).isZero());
    assertThat(shapes)
        .as("66 clusters; a step more than four stages")
        .anyMatch(
            s ->
                Math.ceilDiv(s.get("M"), 256) * Math.ceilDiv(s.get("N"), 256) > 66
                    && Math.ceilDiv(s.get("K"), 64) == 5);
    assertThat(shapes).as("two turns of four stages").anyMatch(s -> s.get("K") > 8 * 64);
    assertThat(shapes).as("whole tiles").anyMatch(s -> s.get("M") == 256 && s.get("N") == 256);
  }

  @Test
  void partsOfALongSumHaveMoreStepsThanStages() throws IOException {
    List<Map<String, Long>> shapes = shapes(file("ffn_bf16_sm90_m16"), CheckOptions.of(1));
    assertThat(shapes).as("a quarter of N1").anyMatch(s -> s.get("N1") / 4 > 5 * 256);
    assertThat(shapes).as("no whole tile").anyMatch(s -> s.get("N1") % 64 != 0);
  }

  @Test
  void whatIsGivenStays() throws IOException {
    CheckOptions options = CheckOptions.of(1).withScalars(Map.of("M", 5L, "N", 64L, "K", 40L));
    assertThat(shapes(file("gemm_bf16_sm80"), options))
        .containsExactly(Map.of("M", 5L, "N", 64L, "K", 40L));
  }

  @Test
  void aRightKernelHasNoFindings() {
    assertThat(check("N", "K", "sum[]")).isEmpty();
  }

  @Test
  void resultsAreComparedAndEveryElementIsWritten() {
    assertThat(check("N - 1", "K", "sum[]")).anyMatch(m -> m.contains("never written: C[0, "));
    assertThat(check("N", "K - 1", "sum[]")).anyMatch(m -> m.contains("wrong result: C["));
    assertThat(check("N", "K", "select(by == 0 && bx + tid == 3, 0.0f32, sum[])"))
        .as("one element")
        .anyMatch(m -> m.contains("wrong result: C[0, 3]"));
  }

  private static List<String> check(String limit, String steps, String value) {
    return Checks.check(new CheckSubject.OfKernel(kernel(limit, steps, value)), CheckOptions.of(1))
        .stream()
        .flatMap(report -> report.findings().stream())
        .map(finding -> finding.message())
        .toList();
  }
}
