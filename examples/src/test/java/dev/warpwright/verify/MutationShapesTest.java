package dev.warpwright.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.examples.FamilySamples;
import dev.warpwright.examples.RepositoryKernels;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.verify.MutationTesting.Result;
import dev.warpwright.verify.MutationTesting.Verdict;
import dev.warpwright.verify.mutation.Mutations;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Mutants that change no result at one shape are tried at others, and what is said of that. */
class MutationShapesTest {
  private static final String GUARDED =
      """
      kernel copy(x: f32[N], y: f32[N]) grid(bx = 1) block(tid = 64) {
        if tid < N {
          y[tid] = x[tid]
        }
      }
      """;

  private static MutationSubject subject(String text) {
    Kernel kernel = new IrParser(Intrinsics::find).kernel("copy", text);
    return MutationSubject.of("copy", kernel, data -> KernelData.random(kernel, Map.of(), data));
  }

  /** The guard left out, which 64 threads of 64 elements do not need. */
  private static Result withoutGuard(String... others) {
    MutationSubject subject =
        subject(GUARDED.replace("N", "64"))
            .withOthers(
                () -> List.of(others).stream().map(text -> subject(text).shape("other")).toList());
    MutationTesting testing = new MutationTesting(subject, CheckOptions.of(1).orders());
    return testing.test(Mutations.named("predicate left out").plant(subject.kernel()).getFirst());
  }

  @Test
  void aSurvivorIsFoundAtAShapeWithATail() {
    Result result = withoutGuard(GUARDED.replace("N", "64"), GUARDED.replace("N", "61"));
    assertThat(result.verdict()).isEqualTo(Verdict.REPORTED);
    assertThat(result.detail()).contains("out of bounds", "at other");
  }

  @Test
  void aShapeCountsOnlyIfItHasAndExecutesTheStatement() {
    String same = GUARDED.replace("N", "64");
    String none =
        """
        kernel copy(x: f32[64], y: f32[64]) grid(bx = 1) block(tid = 64) {
          y[tid] = x[tid]
        }
        """;
    String idle =
        """
        kernel copy(x: f32[64], y: f32[64]) grid(bx = 1) block(tid = 64) {
          for i in 0 {
            if tid < 64 {
              y[tid] = x[tid]
            }
          }
        }
        """;
    Result result = withoutGuard(same, none, idle);
    assertThat(result.verdict()).isEqualTo(Verdict.EQUIVALENT);
    assertThat(result.rule()).isEqualTo(Equivalence.VALUES);
    assertThat(result.shapes()).isEqualTo(1);
  }

  @Test
  void theTableSaysAtHowManyShapesAndWhatWasLeftOut() {
    Result alone = withoutGuard();
    Result tried = withoutGuard(GUARDED.replace("N", "64"));
    String table =
        new MutationTable(
                List.of("copy"),
                List.of(alone, tried),
                new MutationTable.Left(3, List.of("another")))
            .into("");
    assertThat(table)
        .contains("At one more shape (1 mutants):", "At one shape only (1 mutants):")
        .contains("NOT TRIED", "3 mutants of these kernels, and 1 kernels", ": another.");
    assertThat(
            new MutationTable(List.of("copy"), List.of(alone), MutationTable.Left.NOTHING).into(""))
        .doesNotContain("NOT TRIED");
  }

  @Test
  void samplesAreThereForThreeOtherShapes() {
    RepositoryKernels kernels = new RepositoryKernels(Path.of(".."), 7);
    for (String name :
        List.of(
            "wgmma-leading-dimension-odd",
            "wgmma-nt-bf16-multicast-b",
            "workspace",
            "mma-sync-odd-bf16")) {
      assertThat(kernels.otherSamples(name, 0)).as(name).hasSize(3);
    }
    assertThat(FamilySamples.names())
        .allSatisfy(name -> assertThat(FamilySamples.others(name)).as(name).hasSizeBetween(2, 6));
  }
}
