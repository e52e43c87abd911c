package dev.warpwright.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Rejected;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Results are held against their own elements' bounds, not against those of the whole. */
final class OutputCheckTest {
  private static BoundKernel product(DType type) {
    SplittableRandom random = new SplittableRandom(3);
    while (true) {
      Candidate candidate =
          GemmSpace.of(GemmWorkload.nt(64, 128, 64, type), GpuTarget.SM_90A, 132)
              .sample(random)
              .candidate();
      if (candidate != null) {
        try {
          return BoundKernel.of(candidate.kernel().get(), candidate.values());
        } catch (Rejected e) {
          // The next one.
        }
      }
    }
  }

  private static List<Finding> findings(
      BoundKernel bound, NdArray result, OutputCheck.Expected right) {
    List<Finding> findings = new ArrayList<>();
    new OutputCheck("test", bound.workload().result(), "gemm").compare(result, right, findings);
    return findings;
  }

  @ParameterizedTest
  @EnumSource(names = {"BF16", "F16", "F8E4M3"})
  void oneElementIsNotLost(DType type) {
    BoundKernel bound = product(type);
    Arguments inputs = KernelData.of(bound, 5);
    OutputCheck.Expected right = new ResultCheck(bound).expected(inputs).getFirst();
    Buffer output = bound.workload().result();
    NdArray result = NdArray.of(output);
    double[] values = right.values();
    double squares = 0;
    int least = 0;
    for (int i = 0; i < values.length; i++) {
      result.setElement(i, values[i]);
      squares += values[i] * values[i];
      least = Math.abs(values[i]) < Math.abs(values[least]) ? i : least;
    }
    assertThat(findings(bound, result, right)).isEmpty();

    // 5 % of a typical element, of which rounding does not explain any at the least one.
    result.setElement(least, values[least] + 0.05 * Math.sqrt(squares / values.length));
    assertThat(findings(bound, result, right))
        .singleElement()
        .satisfies(finding -> assertThat(finding.kind()).isEqualTo(Finding.Kind.RESULT));
  }

  @ParameterizedTest
  @EnumSource(names = {"BF16", "F8E4M3"})
  void aRowIsNotLost(DType type) {
    BoundKernel bound = product(type);
    OutputCheck.Expected right =
        new ResultCheck(bound).expected(KernelData.of(bound, 5)).getFirst();
    NdArray result = NdArray.of(bound.workload().result());
    double[] values = right.values();
    for (int i = 0; i < values.length; i++) {
      result.setElement(i, i / 128 == 7 ? 0 : values[i]);
    }
    assertThat(findings(bound, result, right)).singleElement().asString().contains("of 8192");
  }
}
