package dev.warpwright.families.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.Nvcc;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Program.ProgramParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.lower.launch.EarlyStart;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridOptions;
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
import org.junit.jupiter.params.provider.CsvSource;

/** Attention that makes a step's queries, and its rows of the caches, itself. */
final class NewTokenTest {
  private static final long SEED = Long.getLong("seed", 41);

  /** What the formulas read: projections beside each other, and factors for columns of a head. */
  private record Step(Attention attention, Buffer projected, Buffer factors, int place) {
    static Step of(Attention attention, int place) {
      int heads = attention.queryHeads() + 2 * attention.kvHeads();
      return new Step(
          attention,
          Buffer.of(
              "X0",
              attention.type(),
              Scope.GLOBAL,
              attention.batch(),
              (long) heads * attention.headSize()),
          Buffer.of("X1", attention.type(), Scope.GLOBAL, attention.batch(), attention.headSize()),
          place);
    }

    private int keys() {
      return attention.queryHeads() * attention.headSize();
    }

    private int values() {
      return keys() + attention.kvHeads() * attention.headSize();
    }

    NewToken token() {
      return new NewToken(
          place,
          (entry, column) -> turned(entry, column, 0),
          (entry, column) -> turned(entry, column, keys()),
          this::value);
    }

    /** A column times its factor, and the one that is half a head away, turned. */
    private Expr turned(Expr entry, Expr column, int first) {
      int d = attention.headSize();
      Expr inHead = Exprs.mod(column, d);
      Expr own = wide(projected, entry, Exprs.add(column, first));
      Expr behind = wide(projected, entry, Exprs.add(column, first + d / 2));
      Expr before = wide(projected, entry, Exprs.add(column, first - d / 2));
      Expr far =
          Exprs.select(
              Exprs.lt(inHead, Exprs.i32(d / 2)), new Expr.Unary(UnaryOp.NEG, behind), before);
      return Exprs.cast(
          attention.type(), Exprs.add(Exprs.mul(own, wide(factors, entry, inHead)), far));
    }

    private static Expr wide(Buffer buffer, Expr... indices) {
      return Exprs.cast(DType.F32, Exprs.load(buffer, indices));
    }

    /** The same of numbers. */
    double turned(Arguments arguments, int entry, int column, int first) {
      int d = attention.headSize();
      double far =
          column % d < d / 2
              ? -projected(arguments, entry, first + column + d / 2)
              : projected(arguments, entry, first + column - d / 2);
      return projected(arguments, entry, first + column)
              * arguments.get("X1").element(entry * d + column % d)
          + far;
    }

    /** A column, behind half of a head a factor: each is read where the other is not. */
    private Expr value(Expr entry, Expr column) {
      Expr inHead = Exprs.mod(column, attention.headSize());
      return Exprs.select(
          Exprs.lt(inHead, Exprs.i32(attention.headSize() / 2)),
          Exprs.load(projected, entry, Exprs.add(column, values())),
          Exprs.load(factors, entry, inHead));
    }

    double value(Arguments arguments, int entry, int column) {
      int d = attention.headSize();
      return column % d < d / 2
          ? projected(arguments, entry, values() + column)
          : arguments.get("X1").element(entry * d + column % d);
    }

    double projected(Arguments arguments, int entry, int column) {
      return arguments.get("X0").element((int) (entry * projected.extent(1) + column));
    }

    /** Caches are carried, and changed in place. */
    Program program(Kernel kernel) {
      List<ProgramParam> params = new ArrayList<>();
      List<Program.Argument> arguments = new ArrayList<>();
      List<Program.Step> steps = new ArrayList<>();
      for (Buffer formal : kernel.buffers()) {
        Buffer own = Buffer.of(formal.name(), formal.dtype(), Scope.GLOBAL, formal.shape());
        boolean result = !formal.name().startsWith("X");
        params.add(new ProgramParam(result ? Program.Role.OUTPUT : Program.Role.INPUT, own));
        arguments.add(new Program.BufferArgument(own));
        if (result && !formal.name().equals("O")) {
          Buffer past =
              Buffer.of(formal.name() + "_past", formal.dtype(), Scope.GLOBAL, formal.shape());
          params.add(new ProgramParam(Program.Role.INPUT, past));
          steps.add(new Program.Carry(past, own));
        }
      }
      steps.add(new Program.Launch(kernel, arguments));
      return new Program("step", params, List.of(), steps);
    }
  }

  @ParameterizedTest
  @CsvSource({
    // Tiles: one that is not full, two, of which the last is not, and many.
    "3, 4, 2, 64, 33, 64, 2, 32, F16",
    "1, 8, 2, 128, 40, 64, 2, 39, BF16",
    "2, 2, 2, 64, 90, 64, 2, 89, BF16",
    "2, 4, 1, 128, 200, 32, 3, 199, BF16",
    "1, 4, 1, 64, 256, 64, 4, 255, F16",
    // A place that is not the last one, heads of one query, as many as a thread holds.
    "2, 2, 2, 128, 150, 64, 2, 130, BF16",
    "1, 3, 1, 64, 96, 32, 2, 70, BF16",
    "1, 32, 1, 64, 70, 64, 2, 69, F16"
  })
  void queriesAndRowsAreMadeInPlace(
      int batch,
      int heads,
      int kvHeads,
      int size,
      int keys,
      int tile,
      int stages,
      int place,
      DType type) {
    Attention attention = Attention.of(batch, heads, kvHeads, size, 1, keys, type);
    AttentionConfig config = AttentionConfig.wgmma(64, tile, stages);
    Step step = Step.of(attention, place);
    assertThat(AttentionKernels.takes(attention, config, step.token())).isTrue();
    Kernel plain =
        AttentionKernels.ofStep(attention, config, GpuTarget.SM_90A, step.token())
            .kernels()
            .getFirst();
    Kernel early = EarlyStart.waiting(plain, Set.of()).orElseThrow();
    assertThat(IrPrinter.text(early).split("griddepcontrol.wait", -1)).hasSize(3);
    // Nothing that is read is behind a branch: all is under way at once.
    assertThat(IrPrinter.text(plain).lines().filter(line -> line.contains("select(")))
        .noneMatch(line -> line.substring(line.indexOf("select(")).matches(".*X[01]\\[.*"));
    for (Kernel kernel : List.of(plain, early)) {
      assertThat(Verifier.verify(kernel)).as(IrPrinter.text(kernel)).isEmpty();
      Program program = step.program(kernel);
      Arguments data = Arguments.random(ProgramInterpreter.params(program), SEED);
      // What is written must not have been read: the place is no number before.
      for (String past : List.of("K_past", "V_past")) {
        for (int i = 0; i < batch * kvHeads * size; i++) {
          data.get(past).setElement((i / size * keys + place) * size + i % size, Double.NaN);
        }
      }
      for (GridOptions way :
          List.of(
              GridOptions.random(SEED),
              GridOptions.DEFAULT
                  .withWarps(GridOptions.WarpChoice.LAST)
                  .withBlocks(Options.Order.REVERSE, 3))) {
        Arguments arguments = data.copy();
        List.of("O", "K", "V").forEach(name -> arguments.get(name).poison());
        assertThat(new ProgramInterpreter(program, way, Options.CHECKED).check(arguments))
            .as("%s, seed %d", way, SEED)
            .isEmpty();
        assertRight(step, arguments, way.toString());
      }
    }
  }

  private static void assertRight(Step step, Arguments arguments, String what) {
    Attention attention = step.attention();
    int d = attention.headSize();
    double[] q = new double[attention.batch() * attention.queryHeads() * d];
    NdArray rounded = arguments.get("O").copy();
    int width = attention.queryHeads() * d;
    for (int i = 0; i < q.length; i++) {
      rounded.setElement(i, step.turned(arguments, i / width, i % width, 0));
      q[i] = rounded.element(i);
    }
    for (String name : List.of("K", "V")) {
      NdArray past = arguments.get(name + "_past").copy();
      int columns = attention.kvHeads() * d;
      for (int i = 0; i < attention.batch() * columns; i++) {
        int at = (i / d * attention.keys() + step.place()) * d + i % d;
        past.setElement(
            at,
            name.equals("K")
                ? step.turned(arguments, i / columns, i % columns, step.keys())
                : step.value(arguments, i / columns, i % columns));
      }
      assertThat(Verification.compare(arguments.get(name).toDoubles(), past.toDoubles()).relError())
          .as("%s, %s, seed %d", name, what, SEED)
          .isLessThan(1e-3);
    }
    int[] lengths = new int[attention.batch()];
    Arrays.fill(lengths, attention.keys());
    AttentionReference expected =
        AttentionReference.of(
            AttentionCache.of(attention, lengths, SEED),
            q,
            arguments.get("K").toDoubles(),
            arguments.get("V").toDoubles());
    assertThat(Verification.compare(arguments.get("O").toDoubles(), expected.values()).relError())
        .as("%s, seed %d", what, SEED)
        .isLessThan(attention.tolerance());
  }

  @Test
  void othersCopyTheirQueries() {
    Attention step = Attention.of(2, 8, 2, 128, 1, 300, DType.BF16);
    AttentionConfig config = AttentionConfig.wgmma(64, 128, 3);
    NewToken last = Step.of(step, 299).token();
    assertThat(AttentionKernels.takes(step, config, last)).isTrue();
    assertThat(AttentionKernels.takes(step, config.withSplits(2), last)).isFalse();
    assertThat(AttentionKernels.takes(step, config.withBlocks(2), last)).isFalse();
    assertThat(AttentionKernels.takes(step, AttentionConfig.wgmma(128, 128, 3), last)).isFalse();
    assertThat(AttentionKernels.takes(step, new AttentionConfig(16, 64, 1, 64, 2), last)).isFalse();
    assertThat(AttentionKernels.takes(step, config, Step.of(step, 255).token())).isFalse();
    assertThat(AttentionKernels.takes(step, config, Step.of(step, 256).token())).isTrue();
    assertThat(AttentionKernels.takes(step, config, Step.of(step, 300).token())).isFalse();
    Attention wide = Attention.of(2, 32, 1, 128, 1, 300, DType.BF16);
    assertThat(AttentionKernels.takes(wide, config, Step.of(wide, 299).token())).isFalse();
    Attention two = Attention.of(2, 8, 2, 128, 2, 300, DType.BF16);
    assertThat(AttentionKernels.takes(two, config, Step.of(two, 299).token())).isFalse();
  }

  @Test
  void nothingSpills() {
    Optional<Nvcc> nvcc = CudaCompilers.nvcc();
    assumeTrue(nvcc.isPresent(), "nvcc is not installed: nothing is compiled");
    Attention attention = Attention.of(16, 32, 8, 128, 1, 1024, DType.BF16);
    Kernel kernel =
        AttentionKernels.ofStep(
                attention,
                AttentionConfig.wgmma(64, 128, 4),
                GpuTarget.SM_90A,
                Step.of(attention, 1023).token())
            .kernels()
            .getFirst();
    String cuda = CudaPrinter.print(List.of(kernel), GpuTarget.SM_90A);
    Cubin cubin = nvcc.get().compile(new CompileRequest(cuda, GpuTarget.SM_90A.name()));
    assertThat(cubin.usage()).allSatisfy(usage -> assertThat(usage.isClean()).isTrue());
    assertThat(cubin.warnings()).isEmpty();
  }
}
