package dev.warpwright.examples.ladder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.testing.StructuralEquality;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.schedule.Replay;
import dev.warpwright.schedule.trace.Trace;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Every rung gives the bits that the plain loops give, whatever the shape. */
final class LadderTest {
  /** One that tiles divide, odd ones, a row, and one whose rows are aligned but not its tiles. */
  private static final List<long[]> SHAPES =
      List.of(
          new long[] {128, 128, 48},
          new long[] {127, 129, 131},
          new long[] {1, 5, 3},
          new long[] {60, 140, 20});

  private static final long SEED = 5;

  private static final Map<String, NdArray> EXPECTED = new HashMap<>();

  private static NdArray expected(long m, long n, long k) {
    return EXPECTED.computeIfAbsent(
        m + "x" + n + "x" + k,
        shape -> {
          PrimFunc matmul = Ladder.matmul(m, n, k);
          Arguments arguments = Arguments.random(matmul.params(), SEED);
          Interpreter.of(matmul, Options.EXACT).run(arguments);
          return arguments.get((Buffer) matmul.params().getLast());
        });
  }

  @TestFactory
  List<DynamicTest> computesTheProduct() {
    return Ladder.RUNGS.stream()
        .flatMap(
            rung ->
                SHAPES.stream()
                    .map(
                        s ->
                            DynamicTest.dynamicTest(
                                rung.name() + " " + s[0] + "x" + s[1] + "x" + s[2],
                                () -> check(Ladder.kernel(rung, s[0], s[1], s[2]), s))))
        .toList();
  }

  /** In f64 the same rungs; an odd shape, and one of whole tiles. */
  @TestFactory
  List<DynamicTest> computesTheProductInF64() {
    return Ladder.RUNGS.stream()
        .flatMap(
            rung ->
                Stream.of(new long[] {33, 70, 19}, new long[] {128, 128, 16})
                    .map(
                        s ->
                            DynamicTest.dynamicTest(
                                rung.name() + " " + s[0] + "x" + s[1] + "x" + s[2],
                                () -> checkF64(rung, s))))
        .toList();
  }

  private static void checkF64(Rung rung, long[] s) {
    PrimFunc matmul = Ladder.matmul(DType.F64, s[0], s[1], s[2]);
    Arguments want = Arguments.random(matmul.params(), SEED);
    Interpreter.of(matmul, Options.EXACT).run(want);
    Kernel kernel = Ladder.kernel(rung, DType.F64, s[0], s[1], s[2]);
    Verifier.require(kernel);
    Arguments got = Arguments.random(kernel.params(), SEED);
    new GridInterpreter(kernel, GridOptions.DEFAULT).run(got);
    assertThat(got.get("C").sameBits(want.get("C"))).as("seed %d", SEED).isTrue();
  }

  @Test
  void aCopyOfEightBytesThatIsWaitedForTooLateIsFound() {
    Kernel kernel = Ladder.kernel(Ladder.require("async-copies"), DType.F64, 128, 128, 64);
    Stmt late =
        new Rewriter() {
          @Override
          public Stmt stmt(Stmt s) {
            return s instanceof Stmt.Evaluate(Expr.Call call)
                    && call.op() == Intrinsics.CP_ASYNC_WAIT
                ? Exprs.evaluate(Intrinsics.CP_ASYNC_WAIT, Exprs.i32(3))
                : super.stmt(s);
          }
        }.stmt(kernel.body());
    Kernel mistaken =
        new Kernel(
            kernel.name(), kernel.kind(), kernel.params(), kernel.bindings(), late, kernel.attrs());
    assertThatThrownBy(
            () ->
                new GridInterpreter(mistaken, GridOptions.DEFAULT)
                    .run(Arguments.random(kernel.params(), SEED)))
        .isInstanceOf(SimulationError.class)
        .hasMessageContaining("an asynchronous copy to it has not been waited for");
  }

  /** An element at a time where the tile is transposed on the way, two where it is not. */
  @Test
  void anAsynchronousCopyInF64MovesOneElementOrTwo() {
    String cuda =
        CudaPrinter.print(
            Ladder.kernel(Ladder.require("async-copies"), DType.F64, 128, 128, 64),
            GpuTarget.SM_80);
    assertThat(cuda).contains("cp_async_8(", "cp_async_16(").doesNotContain("cp_async_4(");
  }

  private static void check(Kernel kernel, long[] shape) {
    Verifier.require(kernel);
    Arguments arguments = Arguments.random(kernel.params(), SEED);
    new GridInterpreter(kernel, GridOptions.DEFAULT).run(arguments);
    NdArray got = arguments.get((Buffer) kernel.params().getLast());
    NdArray want = expected(shape[0], shape[1], shape[2]);
    assertThat(got.sameBits(want))
        .as("seed %d, first difference at %d", SEED, got.difference(want))
        .isTrue();
  }

  /** The trace tells all: replayed, it gives the same program. */
  @TestFactory
  List<DynamicTest> isReplayed() {
    return Ladder.RUNGS.stream()
        .map(
            rung ->
                DynamicTest.dynamicTest(
                    rung.name(),
                    () -> {
                      PrimFunc matmul = Ladder.matmul(100, 200, 300);
                      var schedule = rung.schedule(matmul);
                      Trace trace = Trace.parse(schedule.trace().toJson());
                      assertThat(
                              StructuralEquality.difference(
                                  schedule.func(), Replay.func(trace, matmul)))
                          .isEmpty();
                    }))
        .toList();
  }

  /** What is printed compiles, and stays in registers. */
  @Test
  void compileWithoutSpills() {
    Optional<CudaCompiler> compiler = CudaCompilers.system();
    assumeTrue(compiler.isPresent(), "no CUDA compiler: printed kernels are not compiled");
    List<Kernel> kernels =
        Ladder.RUNGS.stream().map(rung -> Ladder.kernel(rung, 4096, 4096, 4096)).toList();
    String text = CudaPrinter.print(kernels, GpuTarget.SM_90A);
    assertThat(compiler.get().compile(new CompileRequest(text, "sm_90a")).usage())
        .hasSameSizeAs(kernels)
        .allSatisfy(usage -> assertThat(usage.isClean()).as("%s", usage).isTrue());
  }

  @Test
  void rungsAreFoundByName() {
    for (Rung rung : Ladder.RUNGS) {
      assertThat(Ladder.find(rung.name())).containsSame(rung);
    }
    assertThat(Ladder.find("stairs")).isEmpty();
  }

  /** Each says what it changes on a page, which leads to its schedule and to the next one. */
  @Test
  void rungsHavePages() throws IOException {
    Path docs = Path.of("..", "docs");
    List<String> names = new ArrayList<>();
    Ladder.RUNGS.forEach(rung -> names.add(rung.name()));
    for (TensorRung rung : TensorRung.values()) {
      names.add(rung.text());
    }
    String overview = Files.readString(docs.resolve("ladder.md"));
    for (String name : names) {
      assertThat(overview).contains("[" + name + "](ladder/" + name + ".md)");
      Path page = docs.resolve("ladder").resolve(name + ".md");
      String text = Files.readString(page);
      assertThat(text).startsWith("# " + name + ": ").contains("export ladder:" + name);
      Matcher link = Pattern.compile("\\]\\(([^)]+)\\)").matcher(text);
      while (link.find()) {
        assertThat(page.resolveSibling(link.group(1))).as(name).exists();
      }
    }
  }
}
