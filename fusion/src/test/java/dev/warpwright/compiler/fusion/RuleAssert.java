package dev.warpwright.compiler.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.synthetic.RandomMlp;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** What a rule says of a network: {@code on(rule, mlp("64-64-64"), SM_90A, F16, 256).fires()}. */
record RuleAssert(FusionRule rule, FusionInput in) {
  private static final long SEED = 16;

  static RuleAssert on(
      FusionRule rule, Graph graph, GpuTarget target, Precision precision, int rows) {
    return new RuleAssert(rule, FusionInput.of(graph, target, precision, rows));
  }

  /** Layers of such widths with ReLU between them. */
  static Graph mlp(String widths, Precision precision) {
    List<Integer> all = Arrays.stream(widths.split("-", -1)).map(Integer::valueOf).toList();
    return RandomMlp.of(
        new Architecture.Mlp(all, Collections.nCopies(all.size() - 2, "relu")),
        true,
        precision.operand(),
        SEED);
  }

  /** The strategies of a program's kernels, in order. */
  static List<String> strategies(CompiledProgram program) {
    return program.kernels().stream().map(CompiledKernel::strategy).toList();
  }

  /** Gives what it is expected to take. */
  Verdict.Fires fires() {
    Verdict verdict = rule.judge(in);
    assertThat(verdict).as(rule.name()).isInstanceOf(Verdict.Fires.class);
    Verdict.Fires fires = (Verdict.Fires) verdict;
    assertThat(fires.micros()).isPositive();
    return fires;
  }

  void doesNotFire(String reason) {
    assertThat(rule.judge(in)).isEqualTo(new Verdict.DoesNotFire(reason));
  }

  /** Applies the rule, which gives kernels of these strategies. */
  CompiledProgram makes(String... strategies) {
    Attempt attempt = apply();
    assertThat(attempt.program()).as(attempt.why()).isNotNull();
    CompiledProgram program = attempt.made().orElseThrow();
    assertThat(strategies(program)).containsExactly(strategies);
    return program;
  }

  /** Applies the rule, whose kernels cannot be made. */
  void cannotBeApplied(String reason) {
    Attempt attempt = apply();
    assertThat(attempt.program()).isNull();
    assertThat(attempt.why()).contains(reason);
  }

  private Attempt apply() {
    try (GemmKernels gemms = GemmKernels.uncompiled(in.target())) {
      return rule.apply(in, new FusionAttempts(gemms, kernel -> 0));
    }
  }
}
