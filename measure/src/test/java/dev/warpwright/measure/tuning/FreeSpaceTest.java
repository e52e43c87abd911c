package dev.warpwright.measure.tuning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.testing.StructuralEquality;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Rejected;
import dev.warpwright.space.Space;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** {@code -Dwarpwright.seed=S} takes other points; messages name the seed. */
final class FreeSpaceTest {
  private static final int KERNELS = 6;

  @Test
  void randomPointsOfTensorCoresAreRefusedOrComputeTheProduct() {
    check(DType.F16, Set.of("free-wgmma", "free-mma"));
  }

  @Test
  void randomPointsOfThreadsAreRefusedOrComputeTheProduct() {
    check(DType.F32, Set.of("free-simt"));
  }

  private static void check(DType type, Set<String> wanted) {
    long seed = Long.getLong("warpwright.seed", 1);
    SplittableRandom random = new SplittableRandom(seed);
    GemmWorkload product = GemmWorkload.nt(72, 80, 96, type);
    Space space = GemmSpace.free(product, GpuTarget.SM_90A, 4);
    Set<String> engines = new HashSet<>();
    Set<String> reasons = new HashSet<>();
    int kernels = 0;
    for (int i = 0; i < 100_000 && (kernels < KERNELS || engines.size() < wanted.size()); i++) {
      Space.Drawn drawn = space.sample(random);
      Candidate candidate = drawn.candidate();
      if (candidate == null) {
        reasons.add(Objects.requireNonNull(drawn.rejection()).reason());
        continue;
      }
      String engine = String.valueOf(candidate.point().option(Space.SKETCH));
      if (kernels >= KERNELS && engines.contains(engine)) {
        continue;
      }
      try {
        check("seed " + seed + ": " + candidate.point(), product, candidate);
        engines.add(engine);
        kernels++;
      } catch (Rejected e) {
        reasons.add(e.reason());
      }
    }
    assertThat(engines).as("seed %d", seed).isEqualTo(wanted);
    assertThat(reasons).as("reasons for refusals").hasSizeGreaterThan(2);
  }

  private static void check(String what, GemmWorkload product, Candidate candidate) {
    Kernel kernel = candidate.kernel().get();
    assertThat(
            StructuralEquality.equal(
                kernel,
                GemmSpace.schedule(product, GpuTarget.SM_90A, 4, candidate.point()).kernel()))
        .as(what)
        .isTrue();
    BoundKernel bound = BoundKernel.of(kernel, candidate.values());
    Arguments arguments = KernelData.of(bound, 3);
    new GridInterpreter(bound.kernel(), GridOptions.DEFAULT).run(arguments);
    var func = product.func();
    Arguments expected = Arguments.random(func.params(), 3, Map.of());
    for (var param : func.params()) {
      for (var mine : bound.kernel().buffers()) {
        if (mine.name().equals(param.name()) && !mine.name().equals("C")) {
          expected.bind((Buffer) param, arguments.get(mine));
        }
      }
    }
    Interpreter.of(func, Options.EXACT).run(expected);
    NdArray got = arguments.get(buffer(bound.kernel(), "C"));
    double[] wanted = expected.get((Buffer) func.params().getLast()).toDoubles();
    double[] values = got.toDoubles();
    double difference = 0;
    double norm = 0;
    for (int i = 0; i < wanted.length; i++) {
      difference += (values[i] - wanted[i]) * (values[i] - wanted[i]);
      norm += wanted[i] * wanted[i];
    }
    assertThat(Math.sqrt(difference / norm)).as(what).isLessThan(4e-3);
  }

  private static Buffer buffer(Kernel kernel, String name) {
    return kernel.buffers().stream().filter(b -> b.name().equals(name)).findFirst().orElseThrow();
  }

  @Test
  void whatNoRulesReachIsRefused() {
    assertThatThrownBy(() -> GemmSpace.free(GemmWorkload.nt(8, 8, 8, DType.I8), GpuTarget.SM_75, 4))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("leave out space=free");
  }
}
