package dev.warpwright.measure.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.Verification;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Space;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.GemmWorkload.Leading;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.kernel.BoundKernel;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments.ArgumentSet;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every type has a kernel in every layout, aligned or not, in batches of any strides, on every kind
 * of GPU, without anybody choosing a family; and it computes the product. One of three kinds of GPU
 * for each product, another one the next day; {@code -Dday=N} is day N.
 */
class EveryGemmTest {
  private static final long SEED = Long.getLong("seed", 11);
  private static final long DAY = Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay());

  private static final List<GpuTarget> TARGETS =
      List.of(GpuTarget.SM_90A, GpuTarget.SM_80, GpuTarget.SM_75);

  private record Type(Precision precision, double tolerance) {
    static Type of(DType operands, double tolerance) {
      return new Type(Precision.of(operands), tolerance);
    }
  }

  private static final List<Type> TYPES =
      List.of(
          Type.of(DType.F32, 3e-6),
          new Type(Precision.TF32, 2e-3),
          Type.of(DType.F16, 4e-3),
          new Type(Precision.F16_ACCUMULATORS, 4e-3),
          Type.of(DType.BF16, 2e-2),
          Type.of(DType.F8E4M3, 3e-2),
          Type.of(DType.F8E5M2, 3e-2),
          Type.of(DType.I8, 0),
          Type.of(DType.F64, 1e-13));

  static Stream<ArgumentSet> products() {
    List<ArgumentSet> sets = new ArrayList<>();
    for (Type type : TYPES) {
      for (Layout layout : Layout.values()) {
        GemmWorkload odd = product(type, 9, 33, 21, layout);
        GemmWorkload even = product(type, 48, 80, 64, layout);
        sets.add(set(sets.size(), odd, type.tolerance()));
        sets.add(set(sets.size(), even, type.tolerance()));
        sets.add(set(sets.size(), odd.with(new Leading(37, 39, 41)), type.tolerance()));
        sets.add(
            set(
                sets.size(),
                even.times(Batch.of(2).with(new Batch.Strides(48 * 64 + 16, 80 * 64 + 32, 4000))),
                type.tolerance()));
        sets.add(set(sets.size(), odd.times(new Batch(3, true, false)), type.tolerance()));
      }
    }
    return sets.stream();
  }

  private static GemmWorkload product(Type type, long m, long n, long k, Layout layout) {
    return GemmWorkload.of(m, n, k, type.precision().operand(), layout).with(type.precision());
  }

  private static ArgumentSet set(int number, GemmWorkload workload, double tolerance) {
    return org.junit.jupiter.params.provider.Arguments.argumentSet(
        workload.key().text(), number, workload, tolerance);
  }

  @ParameterizedTest
  @MethodSource("products")
  void hasAKernelThatComputesIt(int number, GemmWorkload workload, double tolerance) {
    GpuTarget target = TARGETS.get((int) ((number + DAY) % TARGETS.size()));
    Space space = GemmSpace.of(workload, target, 4);
    Candidate candidate = first(space);
    ScheduledGemm gemm = GemmSpace.schedule(workload, target, 4, candidate.point());
    Arguments expected = Arguments.random(gemm.func().params(), SEED);
    Interpreter.of(gemm.func(), Options.CHECKED).run(expected);
    BoundKernel bound = BoundKernel.of(gemm.kernel(), Map.of());
    Arguments arguments = KernelData.of(bound, SEED + 1);
    for (Buffer buffer : bound.kernel().buffers()) {
      if (buffer.name().equals("A") || buffer.name().equals("B")) {
        arguments.bind(buffer, expected.get(buffer.name()));
      }
    }
    String what =
        String.format(Locale.ROOT, "%s on %s, seed %d", candidate.point(), target.name(), SEED);
    assertThat(new GridInterpreter(bound.kernel(), GridOptions.DEFAULT).check(arguments))
        .as(what)
        .isEmpty();
    Verification result = Verification.compare(arguments.get("C"), expected.get("C"));
    assertThat(result.within(tolerance)).as("%s: %s", what, result).isTrue();
  }

  private static Candidate first(Space space) {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 2000; i++) {
      Candidate candidate = space.sample(random).candidate();
      if (candidate != null) {
        return candidate;
      }
    }
    throw new AssertionError("no kernel");
  }
}
