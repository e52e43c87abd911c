package dev.warpwright.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.examples.ladder.Ladder;
import dev.warpwright.examples.ladder.TensorRung;
import dev.warpwright.ir.Kernel;
import dev.warpwright.target.GpuTarget;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What is exported has names for sizes; what is measured has numbers. The two compile to the same
 * machine code.
 */
final class NamedConstantsTest {
  private static final GpuTarget HOPPER = GpuTarget.SM_90A;

  /**
   * Half of the rungs in f32 as one file, the other half the next day; those on tensor cores, of
   * which one does not divide its sizes.
   */
  static Stream<List<Kernel>> files() {
    long day = Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay());
    return Stream.of(
        IntStream.range(0, Ladder.RUNGS.size())
            .filter(i -> (i + day) % 2 == 0)
            .mapToObj(i -> Ladder.kernel(Ladder.RUNGS.get(i), 256, 256, 64))
            .toList(),
        List.of(tensor(TensorRung.MMA_SYNC, 127, 129, 131)),
        List.of(tensor(TensorRung.WGMMA, 256, 256, 128)));
  }

  private static Kernel tensor(TensorRung rung, long m, long n, long k) {
    return rung.schedule(m, n, k, HOPPER, 4).kernel();
  }

  @ParameterizedTest
  @MethodSource("files")
  void compilesToTheSameCode(List<Kernel> kernels) {
    String names = CudaPrinter.printNamed(kernels, HOPPER);
    String numbers = CudaPrinter.print(kernels, HOPPER);
    assertThat(names).contains("  constexpr int kTile").isNotEqualTo(numbers);
    assertThat(numbers).doesNotContain("  constexpr int kTile");
    var nvcc = CudaCompilers.nvcc();
    assumeTrue(nvcc.isPresent(), "nvcc is not installed: what names do to code is not known");
    assertThat(nvcc.get().compile(new CompileRequest(names, HOPPER.name())).bytes())
        .isEqualTo(nvcc.get().compile(new CompileRequest(numbers, HOPPER.name())).bytes());
  }

  @ParameterizedTest
  @MethodSource("files")
  void allThatIsDefinedIsUsed(List<Kernel> kernels) {
    for (Kernel kernel : kernels) {
      String text = CudaPrinter.printNamed(List.of(kernel), HOPPER);
      Matcher definition = Pattern.compile("constexpr int (k\\w+) = (\\d+);").matcher(text);
      while (definition.find()) {
        String name = definition.group(1);
        assertThat(Pattern.compile("\\b" + name + "\\b").matcher(text).results().count())
            .as("%s in\n%s", name, text)
            .isGreaterThan(1);
        assertThat(Pattern.compile("int " + name + " =").matcher(text).results().count()).isOne();
        assertThat(Long.parseLong(definition.group(2))).isGreaterThan(1);
      }
    }
  }
}
