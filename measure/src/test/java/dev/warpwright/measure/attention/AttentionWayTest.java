package dev.warpwright.measure.attention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.families.attention.AttentionConfig;
import dev.warpwright.families.attention.AttentionConfig.Combine;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.families.tuned.TunedGemm;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.ir.visit.LaunchOrder;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.ProgramInterpreter;
import dev.warpwright.sim.Verification;
import dev.warpwright.space.Candidate;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Attention;
import dev.warpwright.workload.AttentionCache;
import dev.warpwright.workload.AttentionReference;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.kernel.BoundKernel;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Attention alone, and with its projection in a launch behind it. */
final class AttentionWayTest {
  private static final long SEED = 20261129;

  /** What it is measured against: a launch of attention, and a GEMM that begins early. */
  @ParameterizedTest
  @EnumSource
  void launchesThatOverlapDoTheSame(Combine by) {
    Attention attention = Attention.of(2, 16, 2, 64, 1, 128, DType.BF16);
    int features = 96;
    GemmWorkload workload =
        new GemmWorkload(
            2,
            features,
            1024,
            DType.BF16,
            DType.BF16,
            Layout.NT,
            new Epilogue(1, 0, false, Activation.NONE, false, false, false, true));
    Candidate gemm = TunedGemm.untuned(GemmSpace.of(workload, GpuTarget.SM_90A, 132));
    AttentionWay way =
        new AttentionWay(
            AttentionConfig.wgmma(64, 64, 2).withSplits(2).combined(by),
            features,
            new AttentionWay.Behind(
                BoundKernel.of(gemm.kernel().get(), gemm.values()), "5 stages"));
    assertThat(way.text()).endsWith(" project=96 by a launch behind it of 5 stages");
    AttentionWay.Made made = way.make(attention, GpuTarget.SM_90A);
    assertThat(Verifier.verify(made.program())).as(IrPrinter.text(made.program())).isEmpty();
    assertThat(made.program().kernels()).hasSize(by == Combine.LAUNCH ? 3 : 2);
    assertThat(made.program().kernels()).allMatch(LaunchOrder::overlaps);
    Arguments arguments = Arguments.random(ProgramInterpreter.params(made.program()), SEED);
    made.tables()
        .forEach(
            (buffer, values) -> {
              for (int i = 0; i < values.size(); i++) {
                arguments.get(buffer).setIntegerElement(i, values.get(i));
              }
            });
    AttentionReference attended = run(attention, made.program(), arguments, "Y");
    isRight(
        attention,
        arguments.get("Y"),
        attended.projected(
            attention, arguments.get("W").toDoubles(), arguments.get("X").toDoubles()));
  }

  /** Launches of attention alone begin early, and wait where roles part or where they begin. */
  @ParameterizedTest
  @EnumSource(names = {"LAUNCH", "CLUSTER"})
  void launchesOverlap(Combine by) {
    Attention attention = Attention.of(1, 8, 2, 64, 1, 200, DType.BF16);
    AttentionWay way = AttentionWay.of(AttentionConfig.wgmma(64, 64, 2).withSplits(2).combined(by));
    Program program = way.make(attention, GpuTarget.SM_90A).program();
    assertThat(Verifier.verify(program)).as(IrPrinter.text(program)).isEmpty();
    assertThat(program.kernels()).hasSize(by == Combine.LAUNCH ? 2 : 1);
    assertThat(program.kernels()).allMatch(LaunchOrder::overlaps);
    Arguments arguments = Arguments.random(ProgramInterpreter.params(program), SEED);
    isRight(attention, arguments.get("O"), run(attention, program, arguments, "O"));
    // An older GPU has no launches that overlap.
    assertThat(
            AttentionWay.of(new AttentionConfig(16, 32, 2, 32, 2))
                .make(attention, GpuTarget.SM_80)
                .program()
                .kernels())
        .noneMatch(LaunchOrder::overlaps);
  }

  /** Runs in the simulator, without findings; {@return what should be attended} */
  private static AttentionReference run(
      Attention attention, Program program, Arguments arguments, String result) {
    arguments.get(result).poison();
    assertThat(
            new ProgramInterpreter(program, GridOptions.random(SEED), Options.CHECKED)
                .check(arguments))
        .isEmpty();
    return AttentionReference.of(
        AttentionCache.full(attention, SEED),
        arguments.get("Q").toDoubles(),
        arguments.get("K").toDoubles(),
        arguments.get("V").toDoubles());
  }

  private static void isRight(Attention attention, NdArray got, AttentionReference expected) {
    assertThat(Verification.compare(got.toDoubles(), expected.values()).relError())
        .isLessThan(attention.tolerance());
  }
}
