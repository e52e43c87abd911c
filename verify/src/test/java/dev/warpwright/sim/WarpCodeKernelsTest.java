package dev.warpwright.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.verify.mutation.Mutant;
import dev.warpwright.verify.mutation.Mutations;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Kernels of the repository whose straight parts are bytecode, as they are and with mistakes: they
 * compute, report and count what closures do, bit by bit.
 */
class WarpCodeKernelsTest {
  private static final long SEED = Long.getLong("seed", 85);

  /** A kernel of the repository, small. */
  private static Kernel kernel(String file) {
    return switch (file) {
      case "gemm_bf16_sm90" -> HopperGemmTest.kernel(1);
      case "ffn_bf16_sm90_m16" -> KernelFilesTest.ffn(4);
      default -> KernelTexts.parse(KernelTexts.file(file));
    };
  }

  private static Arguments arguments(String file, Kernel kernel) {
    return switch (file) {
      case "gemm_bf16_sm90" -> HopperGemmTest.arguments(kernel, 300, 264, 136);
      case "ffn_bf16_sm90_m16" -> {
        Arguments arguments =
            Arguments.random(
                kernel.params(), SEED, Map.of("M", 16, "K1", 200, "N1", 1024, "N2", 136));
        arguments.get("counters").fill(0);
        yield arguments;
      }
      case "gemm_bf16_sm80" -> {
        Arguments arguments =
            Arguments.random(kernel.params(), SEED, Map.of("M", 150, "N", 136, "K", 136, "T", 4));
        for (int t = 0; t < 4; t++) {
          arguments.get("order").setIntegerElement(t, (long) (t % 2) << 16 | t / 2);
        }
        yield arguments;
      }
      // Five steps of eight columns, the last one half.
      case "gemm_f32_simt" ->
          Arguments.random(kernel.params(), SEED, Map.of("M", 16, "N", 136, "K", 36));
      default -> Arguments.random(kernel.params(), SEED, Map.of("M", 16, "N", 136, "K", 328));
    };
  }

  /** For many launches: of the largest tiles two, one after the other, with tails both ways. */
  private static Arguments fewTiles(String file, Kernel kernel) {
    return file.equals("gemm_bf16_sm90")
        ? HopperGemmTest.arguments(kernel, 300, 200, 136)
        : arguments(file, kernel);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "gemm_f32_simt",
        "gemm_bf16_sm80",
        "gemm_bf16_sm90",
        "gemm_bf16_sm90_skinny",
        "gemm_bf16_sm90_m16",
        "ffn_bf16_sm90_m16"
      })
  void theKernelsOfTheRepository(String file) {
    Kernel kernel = kernel(file);
    for (GridOptions options :
        List.of(
            GridOptions.DEFAULT.withBlocks(Options.Order.FORWARD, 4),
            GridOptions.random(SEED).withBlocks(Options.Order.SHUFFLED, 4),
            GridOptions.counting(4))) {
      GridInterpreter fast =
          BothEngines.agree(
              kernel, () -> arguments(file, kernel), options, file + " by " + options);
      assertThat(fast.replays()).as("suspicions").isZero();
      assertThat(fast.interpreted()).as("not bytecode").isEmpty();
    }
  }

  /** A mistake of every second kind, of the others the next day: all of them take minutes. */
  @ParameterizedTest
  @ValueSource(strings = {"gemm_bf16_sm80", "gemm_bf16_sm90", "ffn_bf16_sm90_m16"})
  void plantedMistakes(String file) {
    Kernel kernel = kernel(file);
    List<Mutant> mutants = new ArrayList<>();
    int today = (int) (Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay()) % 2);
    for (int kind = today; kind < Mutations.ALL.size(); kind += 2) {
      List<Mutant> planted = Mutations.ALL.get(kind).plant(kernel);
      mutants.addAll(planted.subList(0, Math.min(1, planted.size())));
    }
    int replayed = 0;
    for (Mutant mutant : mutants) {
      if (Verifier.verify(mutant.kernel()).isEmpty()) {
        replayed +=
            BothEngines.agree(
                    mutant.kernel(),
                    () -> fewTiles(file, kernel),
                    GridOptions.DEFAULT.withBlocks(Options.Order.FORWARD, 4),
                    mutant.toString())
                .replays();
      }
    }
    assertThat(replayed).isGreaterThan(5);
  }
}
