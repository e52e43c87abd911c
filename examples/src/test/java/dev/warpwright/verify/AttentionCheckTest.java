package dev.warpwright.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.fusion.PerLayerWay;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.examples.FamilySamples;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.space.Point;
import dev.warpwright.synthetic.RandomDecoderLayer;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is wrong with attention's kernels is found: by its definition, and by sanitizers. */
class AttentionCheckTest {
  private static final long SEED = Long.getLong("seed", 5);

  private static CheckSubject.OfAttention sample(String name) {
    return (CheckSubject.OfAttention) Objects.requireNonNull(FamilySamples.find(name));
  }

  /** One mistake of each kind; 'check families:attention-decode --mutants 3' plants more. */
  @ParameterizedTest
  @ValueSource(strings = {"attention-prefill", "attention-last", "attention-projected"})
  void noMutantIsMissed(String name) {
    assertNoneSurvives(Checks.mutationSubjects(sample(name), CheckOptions.of(SEED)));
  }

  /** Of a layer whose attention makes the queries itself, in a launch that begins early. */
  @Test
  void noMutantOfOwnQueriesIsMissed() {
    GpuTarget gpu = GpuTarget.SM_90A;
    String config = "rows=64 keys=64 splits=1 threads=256 stages=2 by=wgmma";
    CompiledProgram layer =
        NetworkCompiler.alternative(
                new RandomDecoderLayer(2, 1, 64, 64, 140).graph(DType.BF16, SEED),
                gpu,
                Precision.BF16,
                2,
                () -> GemmKernels.uncompiled(gpu),
                PerLayerWay.of(
                        "GEMM per layer overlap=1 queries=attention attention0="
                            + Point.parse(config).digest())
                    .orElseThrow())
            .compile()
            .get()
            .orElseThrow();
    assertNoneSurvives(
        MutationSubject.of("layer", layer, 2, SEED).stream()
            .filter(subject -> subject.kernel().name().contains("attention"))
            .toList());
  }

  private static void assertNoneSurvives(List<MutationSubject> subjects) {
    CheckOptions options = CheckOptions.of(SEED);
    List<MutationTesting.Result> missed = new ArrayList<>();
    int tested = 0;
    for (MutationSubject subject : subjects) {
      MutationTesting testing = new MutationTesting(subject, options.orders());
      for (var mutant : testing.mutants(1)) {
        MutationTesting.Result result = testing.test(mutant);
        tested++;
        if (result.verdict() == MutationTesting.Verdict.SURVIVED) {
          missed.add(result);
        }
      }
    }
    assertThat(tested).isGreaterThan(10);
    assertThat(missed).isEmpty();
  }

  /** Parts that all count alike: wrong wherever their maxima differ. */
  @Test
  void partsWithoutTheirWeightsAreWrong() {
    CheckSubject.OfAttention sample = sample("attention-decode");
    Kernel combine = sample.program().kernels().getLast();
    Kernel wrong =
        combine.withBody(
            new Rewriter() {
              @Override
              public Expr expr(Expr e) {
                return e instanceof Expr.Call call && call.op().text().equals("exp2_approx")
                    ? Exprs.f32(1)
                    : super.expr(e);
              }
            }.stmt(combine.body()));
    Program program = sample.program();
    List<Program.Step> steps =
        program.steps().stream()
            .<Program.Step>map(
                step ->
                    step instanceof Program.Launch launch && launch.kernel() == combine
                        ? new Program.Launch(wrong, launch.arguments())
                        : step)
            .toList();
    CheckSubject subject =
        new CheckSubject.OfAttention(
            sample.attention(),
            sample.target(),
            0,
            new Program(program.name(), program.params(), program.workspace(), steps));
    CheckReport report = Checks.check(subject, CheckOptions.of(SEED).withSchedules(1)).getFirst();
    assertThat(report.findings()).extracting(Finding::kind).containsOnly(Finding.Kind.RESULT);
  }
}
