package dev.warpwright.families.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.Nvcc;
import dev.warpwright.families.attention.AttentionConfig.Combine;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.lower.launch.EarlyStart;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.ProgramInterpreter;
import dev.warpwright.sim.Verification;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Attention;
import dev.warpwright.workload.AttentionCache;
import dev.warpwright.workload.AttentionReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Attention's kernels in the simulator, and its tile programs, against the plain definition. */
class AttentionKernelsTest {
  private static final long SEED = Long.getLong("seed", 29);

  private record Case(Attention attention, AttentionConfig config, int... lengths) {
    @Override
    public String toString() {
      return attention.text() + " " + config.text() + " of " + Arrays.toString(lengths);
    }
  }

  private static AttentionConfig config(int rows, int keys, int splits, int threads, int stages) {
    return new AttentionConfig(rows, keys, splits, threads, stages);
  }

  @SuppressWarnings("unused") // By name.
  private static final List<Case> CASES =
      List.of(
          // Decode: one key, an empty entry, odd lengths, the whole cache.
          new Case(
              Attention.of(5, 8, 2, 64, 1, 127, DType.BF16),
              config(16, 32, 1, 64, 3),
              1,
              3,
              17,
              127,
              0),
          new Case(
              Attention.of(4, 4, 2, 128, 3, 127, DType.F16).withCausal(true),
              config(16, 16, 3, 32, 4),
              127,
              17,
              2,
              100),
          new Case(
              Attention.of(3, 6, 2, 96, 1, 100, DType.BF16).withPage(16),
              config(16, 32, 4, 64, 2),
              1,
              50,
              99),
          new Case(
              Attention.of(2, 2, 1, 72, 8, 90, DType.F16).withPage(32).withCausal(true),
              config(16, 16, 2, 64, 1),
              90,
              33),
          // Parts that a cluster combines: in one turn and in several, of several tiles of rows, of
          // entries that some parts or all have no keys of.
          new Case(
              Attention.of(3, 4, 2, 64, 3, 127, DType.BF16).withCausal(true),
              config(16, 16, 4, 64, 2).combined(Combine.CLUSTER),
              127,
              17,
              0),
          new Case(
              Attention.of(1, 8, 1, 72, 5, 90, DType.F16),
              config(16, 16, 8, 32, 3).combined(Combine.CLUSTER),
              90),
          new Case(
              Attention.of(2, 6, 2, 96, 1, 100, DType.BF16).withPage(16),
              config(16, 32, 2, 64, 1).combined(Combine.CLUSTER),
              1,
              99),
          new Case(
              Attention.of(1, 4, 2, 64, 1, 300, DType.BF16),
              config(16, 16, 7, 32, 2).combined(Combine.CLUSTER),
              290),
          new Case(
              Attention.of(2, 4, 1, 64, 3, 200, DType.BF16).withCausal(true),
              AttentionConfig.wgmma(64, 64, 2).withSplits(3).combined(Combine.CLUSTER),
              190,
              17),
          new Case(
              Attention.of(2, 2, 1, 128, 35, 130, DType.F16),
              AttentionConfig.wgmma(64, 32, 3).withSplits(4).combined(Combine.CLUSTER),
              130,
              0),
          // Parts that the last block combines: all read at once and in turns, of one element, two
          // and four at a time, of several tiles of rows, pages, and entries without keys.
          new Case(
              Attention.of(3, 4, 2, 64, 3, 127, DType.BF16).withCausal(true),
              config(16, 16, 4, 64, 2).combined(Combine.LAST),
              127,
              17,
              0),
          new Case(
              Attention.of(1, 8, 1, 72, 5, 90, DType.F16),
              config(16, 16, 6, 32, 3).combined(Combine.LAST),
              90),
          new Case(
              Attention.of(2, 3, 1, 40, 8, 300, DType.F16).withPage(16).withCausal(true),
              config(16, 16, 19, 32, 1).combined(Combine.LAST),
              300,
              33),
          new Case(
              Attention.of(1, 2, 2, 64, 1, 700, DType.BF16),
              config(16, 16, 43, 64, 2).combined(Combine.LAST),
              690),
          new Case(
              Attention.of(2, 4, 1, 64, 3, 200, DType.BF16).withCausal(true),
              AttentionConfig.wgmma(64, 64, 2).withSplits(3).combined(Combine.LAST),
              190,
              17),
          new Case(
              Attention.of(2, 2, 1, 128, 35, 130, DType.F16),
              AttentionConfig.wgmma(64, 32, 3).withSplits(4).combined(Combine.LAST),
              130,
              0),
          new Case(
              Attention.of(1, 8, 2, 128, 1, 700, DType.BF16),
              AttentionConfig.wgmma(64, 32, 3).withSplits(22).combined(Combine.LAST),
              650),
          // Prefill: tiles of rows within a head and across heads, those that see less are shorter.
          new Case(
              Attention.of(1, 4, 2, 64, 77, 77, DType.BF16).withCausal(true),
              config(32, 32, 1, 64, 2),
              77),
          new Case(
              Attention.of(2, 2, 2, 8, 64, 80, DType.F16).withCausal(true),
              config(64, 16, 1, 128, 1),
              80,
              64),
          new Case(
              Attention.of(1, 1, 1, 40, 20, 65, DType.BF16).withScale(0.5),
              config(16, 64, 1, 32, 1),
              65),
          // By warpgroups: tiles that begin before the first key, entries shorter than one or
          // empty,
          // rows that see nothing; tiles within a head and across heads.
          new Case(
              Attention.of(3, 4, 2, 64, 32, 200, DType.BF16),
              AttentionConfig.wgmma(64, 64, 3),
              131,
              5,
              0),
          new Case(
              Attention.of(2, 2, 1, 64, 128, 160, DType.F16).withCausal(true),
              AttentionConfig.wgmma(128, 96, 2),
              160,
              100),
          new Case(
              Attention.of(1, 4, 2, 128, 96, 130, DType.BF16).withCausal(true).withScale(0.5),
              AttentionConfig.wgmma(64, 128, 4),
              97),
          // Few rows of a tile, and keys in parts: some without keys, of an entry or of all.
          new Case(
              Attention.of(3, 4, 2, 64, 3, 200, DType.F16).withCausal(true),
              AttentionConfig.wgmma(64, 64, 2).withSplits(3),
              200,
              70,
              0),
          new Case(
              Attention.of(1, 4, 2, 64, 50, 90, DType.BF16).withCausal(true),
              AttentionConfig.wgmma(64, 32, 3),
              77),
          // Blocks that go from tile to tile, there and back: one has more of them than others.
          new Case(
              Attention.of(2, 4, 2, 64, 128, 200, DType.BF16).withCausal(true),
              AttentionConfig.wgmma(64, 64, 3).withBlocks(3),
              200,
              0),
          new Case(
              Attention.of(1, 2, 1, 64, 96, 96, DType.F16),
              AttentionConfig.wgmma(64, 64, 2).withBlocks(2),
              90));

  @SuppressWarnings("unused") // By name.
  private static final List<Case> QUICK = CASES.subList(2, 7);

  private static AttentionCache cache(Case each) {
    return AttentionCache.of(each.attention, each.lengths, SEED);
  }

  /** Scores that differ much, so that maxima move; what no entry has a key for is not a number. */
  private static Arguments arguments(AttentionCache cache, List<? extends Param> params) {
    Arguments arguments = Arguments.random(params, SEED);
    NdArray q = arguments.get("Q");
    for (int i = 0; i < q.size(); i++) {
      q.setElement(i, q.element(i) * 6);
    }
    put(arguments.get("lengths"), cache.lengths());
    if (cache.attention().isPaged()) {
      put(arguments.get("table"), cache.table());
    }
    boolean[] used = cache.used();
    int d = cache.attention().headSize();
    for (String name : List.of("K", "V")) {
      for (int i = 0; i < used.length * d; i++) {
        if (!used[i / d]) {
          arguments.get(name).setElement(i, Double.NaN);
        }
      }
    }
    return arguments;
  }

  private static void put(NdArray array, int[] values) {
    for (int i = 0; i < values.length; i++) {
      array.setIntegerElement(i, values[i]);
    }
  }

  private static AttentionReference reference(AttentionCache cache, Arguments arguments) {
    return AttentionReference.of(
        cache,
        arguments.get("Q").toDoubles(),
        arguments.get("K").toDoubles(),
        arguments.get("V").toDoubles());
  }

  private static void assertRight(
      Attention attention, NdArray result, AttentionReference expected, String what) {
    double[] got = result.toDoubles();
    Deviations deviations = expected.deviations(got, attention.type());
    assertThat(deviations.text(attention.headSize())).as("%s, seed %d", what, SEED).isEmpty();
    assertThat(Verification.compare(got, expected.values()).relError())
        .as("%s, seed %d", what, SEED)
        .isLessThan(attention.tolerance());
  }

  @ParameterizedTest
  @FieldSource("CASES")
  void kernelsAreCleanAndRight(Case each) {
    Attention attention = each.attention;
    // Parts are combined by a launch that begins early, where there is such.
    GpuTarget target =
        each.config.splits() > 1 || each.config.isForWarpgroups()
            ? GpuTarget.SM_90A
            : GpuTarget.SM_80;
    AttentionKernels kernels = AttentionKernels.of(attention, each.config, target);
    for (PrimFunc tiles : kernels.tiles()) {
      assertThat(Verifier.verify(tiles)).as(IrPrinter.text(tiles)).isEmpty();
    }
    for (Kernel kernel : kernels.kernels()) {
      assertThat(Verifier.verify(kernel)).as(IrPrinter.text(kernel)).isEmpty();
    }
    Program program = kernels.program();
    Arguments data = arguments(cache(each), ProgramInterpreter.params(program));
    AttentionReference expected = reference(cache(each), data);
    for (GridOptions way :
        List.of(
            GridOptions.random(SEED),
            GridOptions.DEFAULT
                .withWarps(GridOptions.WarpChoice.LAST)
                .withBlocks(Options.Order.REVERSE, 3))) {
      ProgramInterpreter interpreter =
          new ProgramInterpreter(program, way, Options.CHECKED).keepingWorkspace();
      // Counters must be as they were.
      for (int run = 0; run < (each.config.combine() == Combine.LAST ? 2 : 1); run++) {
        Arguments arguments = data.copy();
        arguments.get("O").poison();
        assertThat(interpreter.check(arguments)).as("%s, seed %d", way, SEED).isEmpty();
        assertRight(attention, arguments.get("O"), expected, way.toString());
      }
    }
  }

  /** Whoever combines adds up in the same order. */
  @ParameterizedTest
  @ValueSource(ints = {3, 11, 40})
  void theLastBlockLeavesTheBitsOfALaunch(int splits) {
    Attention attention = Attention.of(2, 4, 2, 64, 1, 700, DType.BF16);
    Case whole = new Case(attention, config(16, 16, splits, 32, 2), 650, 200);
    List<byte[]> results = new ArrayList<>();
    for (Combine by : List.of(Combine.LAUNCH, Combine.LAST)) {
      Program program =
          AttentionKernels.of(attention, whole.config.combined(by), GpuTarget.SM_90A).program();
      Arguments arguments = arguments(cache(whole), ProgramInterpreter.params(program));
      new ProgramInterpreter(program, GridOptions.random(SEED), Options.EXACT).run(arguments);
      results.add(arguments.get("O").bytes());
    }
    assertThat(results.get(1)).isEqualTo(results.get(0));
  }

  /** Counters are workspace that whoever allocates it sets to zero, unless a step does. */
  @Test
  void countersAreZeroBeforeTheFirstRun() {
    Attention attention = Attention.of(1, 4, 2, 64, 1, 100, DType.BF16);
    AttentionConfig parts = config(16, 16, 3, 32, 2);
    assertThat(AttentionKernels.of(attention, parts, GpuTarget.SM_80).program().counters())
        .isEmpty();
    Program program =
        AttentionKernels.of(attention, parts.combined(Combine.LAST), GpuTarget.SM_80).program();
    assertThat(Verifier.verify(program)).isEmpty();
    assertThat(program.counters()).extracting(Buffer::name).containsExactly("counters");
    List<Program.Step> steps = new ArrayList<>(program.steps());
    steps.addFirst(new Program.Memset(program.counters().iterator().next(), 0));
    assertThat(new Program(program.name(), program.params(), program.workspace(), steps).counters())
        .isEmpty();
  }

  /** In a program whose launches overlap it touches its counters behind the wait only. */
  @Test
  void theLastBlockMayBeginEarly() {
    Attention attention = Attention.of(1, 8, 2, 64, 1, 200, DType.BF16);
    for (AttentionConfig config :
        List.of(config(16, 16, 4, 32, 2), AttentionConfig.wgmma(64, 64, 3).withSplits(3))) {
      Kernel kernel =
          AttentionKernels.ofFull(attention, config.combined(Combine.LAST), GpuTarget.SM_90A)
              .kernels()
              .getFirst();
      Kernel early = EarlyStart.waiting(kernel, Set.of()).orElseThrow();
      assertThat(Verifier.verify(early)).as(IrPrinter.text(early)).isEmpty();
      // Where roles part, for what is behind them waits, too; else where the kernel begins.
      String text = IrPrinter.text(early);
      assertThat(text.split("griddepcontrol.wait", -1))
          .hasSize(config.instruction() == AttentionConfig.Instruction.WGMMA ? 3 : 2);
    }
  }

  /** Where all entries have all keys, their number is no parameter. */
  @ParameterizedTest
  @FieldSource("FULL")
  void lengthsNeedNotBeGiven(Case each) {
    AttentionKernels kernels =
        AttentionKernels.ofFull(each.attention, each.config, GpuTarget.SM_90A);
    Program program = kernels.program();
    assertThat(program.params()).extracting(p -> p.param().name()).doesNotContain("lengths");
    AttentionCache cache = cache(each);
    Arguments arguments = Arguments.random(ProgramInterpreter.params(program), SEED);
    AttentionReference expected = reference(cache, arguments);
    arguments.get("O").poison();
    assertThat(
            new ProgramInterpreter(program, GridOptions.DEFAULT, Options.CHECKED).check(arguments))
        .isEmpty();
    assertRight(each.attention, arguments.get("O"), expected, "full");
  }

  @SuppressWarnings("unused") // By name.
  private static final List<Case> FULL =
      List.of(
          new Case(Attention.of(2, 2, 1, 64, 1, 77, DType.BF16), config(16, 16, 3, 32, 2), 77, 77),
          new Case(
              Attention.of(2, 2, 1, 64, 1, 77, DType.BF16),
              config(16, 16, 4, 32, 2).combined(Combine.CLUSTER),
              77,
              77),
          new Case(
              Attention.of(1, 8, 2, 128, 1, 200, DType.BF16),
              AttentionConfig.wgmma(64, 64, 3).withSplits(4).combined(Combine.CLUSTER),
              200),
          new Case(
              Attention.of(1, 8, 2, 128, 1, 200, DType.BF16),
              AttentionConfig.wgmma(64, 64, 3).withSplits(4).combined(Combine.LAST),
              200),
          new Case(
              Attention.of(1, 4, 2, 64, 32, 90, DType.F16), AttentionConfig.wgmma(64, 64, 2), 90));

  /** Of sizes that are worth timing. */
  @Test
  void nothingSpills() {
    Optional<Nvcc> nvcc = CudaCompilers.nvcc();
    assumeTrue(nvcc.isPresent(), "nvcc is not installed: nothing is compiled");
    List<Case> cases =
        List.of(
            new Case(
                Attention.of(4, 32, 8, 128, 4, 4000, DType.BF16).withPage(16).withCausal(true),
                config(16, 64, 16, 128, 3)),
            new Case(
                Attention.of(1, 32, 8, 128, 1, 1024, DType.BF16),
                config(16, 32, 8, 32, 4).combined(Combine.CLUSTER)),
            new Case(
                Attention.of(1, 32, 8, 128, 1, 16384, DType.BF16),
                AttentionConfig.wgmma(64, 64, 4).withSplits(8).combined(Combine.CLUSTER)),
            new Case(
                Attention.of(1, 32, 8, 128, 1, 16384, DType.BF16),
                AttentionConfig.wgmma(64, 64, 6).withSplits(16).combined(Combine.LAST)),
            new Case(
                Attention.of(1, 32, 8, 128, 8, 16384, DType.BF16).withPage(64),
                config(32, 64, 128, 128, 3).combined(Combine.LAST)),
            new Case(
                Attention.of(1, 32, 8, 128, 1, 1024, DType.BF16),
                config(16, 32, 32, 32, 3).combined(Combine.LAST)),
            new Case(
                Attention.of(1, 32, 8, 128, 4096, 4096, DType.F16).withCausal(true),
                config(64, 64, 1, 128, 2)),
            new Case(
                Attention.of(1, 32, 8, 128, 4096, 4096, DType.BF16).withCausal(true),
                AttentionConfig.wgmma(128, 128, 4)));
    for (GpuTarget target : List.of(GpuTarget.SM_80, GpuTarget.SM_90A)) {
      // At once: most of nvcc's time goes before it comes to the kernel.
      List<Kernel> kernels = new ArrayList<>();
      for (Case each : cases) {
        boolean hopper = each.config.isForWarpgroups() || each.config.inCluster();
        if (!hopper || target.equals(GpuTarget.SM_90A)) {
          for (Kernel kernel : AttentionKernels.of(each.attention, each.config, target).kernels()) {
            kernels.add(kernel.withName("k" + cases.indexOf(each) + "_" + kernel.name()));
          }
        }
      }
      String cuda = CudaPrinter.print(kernels, target);
      Cubin cubin = nvcc.get().compile(new CompileRequest(cuda, target.name()));
      assertThat(cubin.usage())
          .as("%s: %s", target.name(), cubin.log())
          .hasSameSizeAs(kernels)
          .allSatisfy(usage -> assertThat(usage.isClean()).as("%s", usage).isTrue());
      assertThat(cubin.warnings()).as(target.name()).isEmpty();
    }
  }

  /** The formulas are what the reference computes, which knows nothing of them. */
  @ParameterizedTest
  @FieldSource("QUICK")
  void theDefinitionIsTheReference(Case each) {
    PrimFunc func = each.attention.func();
    assertThat(Verifier.verify(func)).as(IrPrinter.text(func)).isEmpty();
    Arguments arguments = arguments(cache(each), func.params());
    AttentionReference expected = reference(cache(each), arguments);
    arguments.get("O").poison();
    Interpreter.of(func, Options.DOUBLE).run(arguments);
    double[] got = arguments.get("O").toDoubles();
    assertThat(Verification.compare(got, expected.values()).relError())
        .isLessThan(each.attention.tolerance());
  }
}
