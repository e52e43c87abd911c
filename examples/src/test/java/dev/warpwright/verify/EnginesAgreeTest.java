package dev.warpwright.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.examples.RepositoryKernels;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.workload.Precision;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Bytecode and closures of the simulator, over the kernels of the repository. */
class EnginesAgreeTest {
  private static final RepositoryKernels KERNELS = new RepositoryKernels(Path.of(".."), 7);

  static List<MutationSubject> all() {
    return KERNELS.all();
  }

  @Test
  void allKernelsBecomeBytecode() {
    List<String> interpreted = new ArrayList<>();
    for (MutationSubject subject : all()) {
      List<String> parts = new GridInterpreter(subject.kernel(), GridOptions.DEFAULT).interpreted();
      parts.forEach(part -> interpreted.add(subject.name() + ": " + part));
    }
    assertThat(interpreted).isEmpty();
  }

  /** Half of them a day, the other half the next. */
  static Stream<MutationSubject> someOfEachFamily() {
    List<MutationSubject> some = new ArrayList<>(KERNELS.families());
    some.addAll(KERNELS.network("digits-relu-128-64", Precision.F16));
    some.addAll(KERNELS.network("ffn-gelu-residual-128", Precision.BF16));
    some.addAll(KERNELS.network("image-siren-64x4", Precision.TF32));
    some.addAll(KERNELS.network("tabular-tanh-sigmoid", Precision.F32));
    long day = Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay());
    return IntStream.range(0, some.size()).filter(i -> (i + day) % 2 == 0).mapToObj(some::get);
  }

  @ParameterizedTest
  @MethodSource("someOfEachFamily")
  void bothEnginesGiveTheSame(MutationSubject subject) {
    GridOptions options = GridOptions.random(5);
    MutationSubject.Outcome fast = subject.run().of(subject.kernel(), options, 0);
    MutationSubject.Outcome slow =
        subject.run().of(subject.kernel(), options.withEngine(GridOptions.Engine.INTERPRETER), 0);
    assertThat(fast.findings()).isEqualTo(slow.findings()).isEmpty();
    for (int i = 0; i < slow.memory().size(); i++) {
      assertThat(fast.memory().get(i)).as("buffer %d", i).isEqualTo(slow.memory().get(i));
    }
  }
}
