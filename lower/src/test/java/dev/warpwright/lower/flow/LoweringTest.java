package dev.warpwright.lower.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.target.GpuTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tile programs with pipes and roles become kernels that compute the same. */
class LoweringTest {
  private static final long SEED = Long.getLong("seed", 77);

  /** The last warp first, and at random: in order they go on in all other tests. */
  static final List<GridOptions> WAYS =
      List.of(
          GridOptions.DEFAULT
              .withWarps(GridOptions.WarpChoice.LAST)
              .withBlocks(Options.Order.REVERSE, 4),
          GridOptions.random(SEED));

  static Kernel lowered(PrimFunc func) {
    assertThat(Verifier.verify(func)).as(IrPrinter.text(func)).isEmpty();
    Kernel kernel = Lowering.lower(func, GpuTarget.SM_90A);
    assertThat(Verifier.verify(kernel)).as(IrPrinter.text(kernel)).isEmpty();
    return kernel;
  }

  /** Arguments whose sums are exact, in whatever order and with whatever rounding they are made. */
  static Arguments exact(List<? extends Param> params, Map<String, Long> scalars) {
    Arguments arguments = Arguments.random(params, SEED, scalars);
    SplittableRandom random = new SplittableRandom(SEED);
    for (var param : params) {
      if (param instanceof Buffer buffer) {
        NdArray array = arguments.get(buffer.name());
        boolean weights = buffer.name().startsWith("W");
        // Two weights of each neuron are 1 or -1, more or less: no layer makes numbers much larger.
        long width = buffer.extent(buffer.rank() - 1);
        for (int i = 0; i < array.size(); i++) {
          int value = random.nextInt(-2, 3);
          int one = random.nextLong(width) < 2 ? 1 - 2 * random.nextInt(2) : 0;
          array.setElement(i, weights ? one : value);
        }
      }
    }
    return arguments;
  }

  static void assertComputes(PrimFunc func, Kernel kernel, String out, Map<String, Long> scalars) {
    Arguments expected = exact(func.params(), scalars);
    Interpreter.of(func, Options.CHECKED).run(expected);
    eachPassComputes(func, out, scalars, expected);
    for (GridOptions options : WAYS) {
      Arguments arguments = exact(kernel.params(), scalars);
      arguments.get(out).poison();
      assertThat(new GridInterpreter(kernel, options).check(arguments))
          .as("%s: %s", options, IrPrinter.text(kernel))
          .isEmpty();
      assertThat(arguments.get(out).sameBits(expected.get(out)))
          .as("%s: first at %s", options, arguments.get(out).difference(expected.get(out)))
          .isTrue();
    }
  }

  /** Every pass up to threads gives a program that is verified, printed, parsed and executed. */
  private static void eachPassComputes(
      PrimFunc func, String out, Map<String, Long> scalars, Arguments expected) {
    List<String> passes = new ArrayList<>();
    Lowering.lower(
        func,
        GpuTarget.SM_90A,
        (pass, text) -> {
          passes.add(pass);
          if (List.of("LowerTiles", "PrefetchRows", "Simplify").contains(pass)) {
            return;
          }
          PrimFunc program = FlowPrograms.parse(text.get());
          assertThat(IrPrinter.text(program)).isEqualTo(text.get());
          assertThat(Verifier.verify(program)).as("%s:%n%s", pass, text.get()).isEmpty();
          // Those before have tests of their own, and PlanShared changes nothing.
          List<Options.Order> orders =
              switch (pass) {
                case "PrefetchItems", "ChooseMovement", "LowerPipes" ->
                    List.of(Options.Order.SHUFFLED);
                case "EarlyWaits" -> List.of(Options.Order.REVERSE, Options.Order.SHUFFLED);
                default -> List.of();
              };
          for (Options.Order order : orders) {
            Arguments arguments = exact(program.params(), scalars);
            arguments.get(out).poison();
            Interpreter.of(program, Options.CHECKED.withOrder(order, SEED)).run(arguments);
            assertThat(arguments.get(out).sameBits(expected.get(out)))
                .as("%s, %s:%n%s", pass, order, text.get())
                .isTrue();
          }
        });
    passes.removeAll(List.of("EarlyWaits", "PrefetchRows"));
    assertThat(passes)
        .containsExactly(
            "DistributeWork",
            "PlanPipes",
            "AssignRoles",
            "PrefetchItems",
            "ChooseMovement",
            "PlanShared",
            "LowerPipes",
            "LowerTiles",
            "Simplify");
  }

  @ParameterizedTest
  @CsvSource({
    "128,128,200, 128,128,64, 3,0,2, true",
    "200,136,136, 64,64,64, 4,0,1, true",
    "200,136,136, 128,64,64, 2,3,2, true",
    "72,200,200, 64,96,128, 3,2,1, true",
    "272,64,136, 256,64,64, 4,1,2, true",
    "100,72,72, 64,40,64, 4,2,1, false"
  })
  void gemm(
      int m,
      int n,
      int k,
      int tm,
      int tn,
      int tk,
      int stages,
      int blocks,
      int consumers,
      boolean staged) {
    PrimFunc func =
        FlowPrograms.gemm(
            m,
            n,
            k,
            tm,
            tn,
            tk,
            stages,
            blocks,
            consumers,
            staged ? FlowPrograms.STAGED : FlowPrograms.DIRECT);
    Kernel kernel = lowered(func);
    assertComputes(func, kernel, "C", Map.of());
  }

  /** Operands that are MN-major and that instructions take K-major only. */
  @ParameterizedTest
  @CsvSource({
    "tf32,TN, 100,72,44, 64,40,32, 1, true",
    "tf32,NN, 200,75,70, 128,48,32, 2, true",
    "tf32,TT, 66,72,44, 64,24,64, 1, true",
    // More pieces than a thread has registers for go in groups, here 12, and the last two.
    "tf32,TN, 260,132,72, 256,128,64, 2, false",
    "s8,NN, 72,48,208, 64,32,128, 1, true",
    "s8,TN, 144,80,75, 128,32,64, 1, true",
    "s8,TN, 144,80,75, 128,32,64, 2, false"
  })
  void transposedGemm(
      String type,
      String layout,
      int m,
      int n,
      int k,
      int tm,
      int tn,
      int tk,
      int consumers,
      boolean ahead) {
    PrimFunc func = FlowPrograms.gemm(type, layout, m, n, k, tm, tn, tk, consumers);
    Kernel kernel = lowered(func);
    assertThat(loadsAhead(kernel)).isEqualTo(ahead);
    assertComputes(func, kernel, "C", Map.of());
  }

  /** Whether a tile is loaded to registers before a stage is waited for. */
  private static boolean loadsAhead(Kernel kernel) {
    String text = IrPrinter.text(kernel);
    assertThat(text).contains("_next[");
    return text.indexOf("_next[") < text.indexOf("mbarrier.wait(&empty");
  }

  @ParameterizedTest
  @CsvSource({
    "f16,64,1,3,false,2, 277,2",
    "f16,64,2,1,true,3, 330,1",
    "bf16,64,2,2,true,1, 100,1",
    "f16,64,2,1,true,2, 64,3"
  })
  void network(
      String type,
      int width,
      int groups,
      int kept,
      boolean streamed,
      int workers,
      long rows,
      long blocks) {
    PrimFunc func = FlowPrograms.network(type, width, groups, kept, streamed, workers);
    Kernel kernel = lowered(func);
    assertComputes(func, kernel, "y", Map.of("M", rows, "G", blocks));
  }
}
