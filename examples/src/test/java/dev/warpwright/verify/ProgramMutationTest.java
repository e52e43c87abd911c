package dev.warpwright.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.examples.RepositoryKernels;
import dev.warpwright.verify.MutationTesting.Verdict;
import dev.warpwright.verify.mutation.Mutant;
import dev.warpwright.verify.mutation.Mutations;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Mistakes in kernels of several launches, and in those whose weights stay in shared memory. */
class ProgramMutationTest {
  private static final RepositoryKernels KERNELS = new RepositoryKernels(Path.of(".."), 7);
  private static final CheckOptions OPTIONS = CheckOptions.of(5).withSchedules(1);

  private static List<Verdict> verdicts(MutationSubject subject, int most, String... mistakes) {
    MutationTesting testing = new MutationTesting(subject, OPTIONS.orders());
    List<Verdict> verdicts = new ArrayList<>();
    for (String mistake : mistakes) {
      List<Mutant> mutants = Mutations.named(mistake).plant(subject.kernel());
      for (Mutant mutant : mutants.subList(0, Math.min(most, mutants.size()))) {
        MutationTesting.Result result = testing.test(mutant);
        assertThat(result.verdict()).as(result.toString()).isNotEqualTo(Verdict.SURVIVED);
        verdicts.add(result.verdict());
      }
    }
    return verdicts;
  }

  /** The slot beside one holds another layer's weights: nothing undefined, but a wrong result. */
  @ParameterizedTest
  @ValueSource(strings = {"wgmma reads the next stage", "first wgmma adds to nothing"})
  void slicesThatStay(String mistake) {
    assertThat(verdicts(KERNELS.kernel("mlp_f16_sm90_128x8"), 4, mistake))
        .contains(Verdict.WRONG_RESULT, Verdict.REPORTED);
  }

  /** In a ring it is undefined, and reported as that. */
  @Test
  void stagesOfARing() {
    MutationSubject ring = KERNELS.kernel("gemm_bf16_sm90");
    for (String mistake : List.of("wgmma reads the next stage", "first wgmma adds to nothing")) {
      assertThat(Mutations.named(mistake).plant(ring.kernel()))
          .isNotEmpty()
          .noneMatch(Mutant::mayOnlyChangeResults);
    }
  }

  @Test
  void kernelsOfAProgram() {
    assertThat(KERNELS.programs()).hasSize(2);
    assertThat(KERNELS.kernels()).doesNotContainAnyElementsOf(KERNELS.programs());
    List<MutationSubject> subjects = KERNELS.program("ffn_bf16_sm90_pdl_m16");
    assertThat(subjects).hasSize(2);
    for (MutationSubject subject : subjects) {
      assertThat(
              verdicts(
                  subject, 1, "arrival left out", "TMA copy left out", "store one element further"))
          .contains(Verdict.REPORTED);
    }
  }
}
