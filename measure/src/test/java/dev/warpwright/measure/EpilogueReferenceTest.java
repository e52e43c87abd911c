package dev.warpwright.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.offset;

import dev.warpwright.families.plain.PlainGemm;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.families.wgmma.HopperGemm;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.accuracy.ErrorBound;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.measure.reference.ErrorSum;
import dev.warpwright.measure.reference.HostMatrix;
import dev.warpwright.measure.reference.HostReference;
import dev.warpwright.measure.reference.OutputError;
import dev.warpwright.measure.reference.ReferenceGemm;
import dev.warpwright.measure.reference.WorkloadReference;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.kernel.BoundKernel;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What a kernel says of its epilogue, and the reference for it. */
class EpilogueReferenceTest {
  private static final long SEED = Long.getLong("seed", 8);

  /** Rows of all matrices are further apart than they are long. */
  private static Kernel kernel(Epilogue epilogue) {
    return HopperGemm.schedule(
            new GemmWorkload(9, 16, 24, DType.BF16, DType.F32, GemmWorkload.Layout.NT, epilogue)
                .with(new GemmWorkload.Leading(32, 40, 20)),
            HopperConfig.pairs(64, 16, 2, 1, 2).withCluster(1, 1))
        .kernel();
  }

  @ParameterizedTest
  @EnumSource(Activation.class)
  void kernelAndHostAgree(Activation activation) {
    Epilogue epilogue = new Epilogue(0.5, -2, true, activation, true, true, true, true);
    BoundKernel bound = BoundKernel.of(kernel(epilogue), Map.of());
    BoundWorkload.Gemm gemm = (BoundWorkload.Gemm) bound.workload();
    assertThat(gemm.epilogue()).isEqualTo(epilogue);
    assertThat(gemm.inputs().stream().map(Buffer::name))
        .containsExactly("A", "B", "rowScale", "columnScale", "bias", "R", "G", "S");
    assertThat(gemm.text()).contains("lda=32 ldb=40 ldc=20");
    assertThat(BoundWorkload.bytes(gemm.c())).isEqualTo(9 * 20 * 4);
    assertThat(bound.contents().get(gemm.extras().getFirst()))
        .isInstanceOf(BoundKernel.Content.Random.class);

    Kernel reference = ReferenceGemm.of(gemm).getFirst().kernel();
    Arguments arguments = Arguments.random(reference.params(), SEED);
    new GridInterpreter(reference, GridOptions.DEFAULT).run(arguments);
    List<Buffer> params = reference.buffers();
    NdArray a = arguments.get(params.get(0).name());
    NdArray b = arguments.get(params.get(1).name());
    NdArray out = arguments.get(params.getLast().name());
    Kernel spreads = ReferenceGemm.of(gemm).getFirst().deviation();
    Arguments same = Arguments.random(spreads.params(), SEED);
    for (int p = 0; p < params.size() - 1; p++) {
      same.bind(spreads.buffers().get(p), arguments.get(params.get(p)));
    }
    new GridInterpreter(spreads, GridOptions.DEFAULT).run(same);
    NdArray deviations = same.get(spreads.buffers().getLast());
    for (int i = 0; i < 9; i++) {
      for (int j = 0; j < 16; j++) {
        double sum = 0;
        double squares = 0;
        for (int k = 0; k < 24; k++) {
          double product = a.get(i, k) * b.get(j, k);
          sum += product;
          squares += product * product;
        }
        Map<Epilogue.Operand, Double> values = new EnumMap<>(Epilogue.Operand.class);
        for (Epilogue.Operand operand : epilogue.operands()) {
          NdArray extra = arguments.get(operand.buffer());
          values.put(
              operand,
              switch (operand) {
                case ROW_SCALE -> extra.get(i);
                case COLUMN_SCALE, BIAS -> extra.get(j);
                case ADDEND, GATE, RESIDUAL -> extra.get(i, j);
              });
        }
        assertThat(out.get(i, j))
            .as("[%d, %d], seed %d", i, j, SEED)
            .isCloseTo(HostReference.epilogue(epilogue, sum, values), offset(1e-9));
        double spread = gemm.deviation(0).of(sum, squares, values);
        assertThat(deviations.get(i, j))
            .as("deviation [%d, %d], seed %d", i, j, SEED)
            .isCloseTo(spread, offset(1e-5 * spread));
      }
    }
  }

  /** What the function units make of them in 16 bits is within what is allowed, near 0 too. */
  @ParameterizedTest
  @CsvSource({"SIN, F16", "SIN, BF16", "COS, F16", "TANH, F16", "TANH, BF16"})
  void sinesAndTangentsOf16Bits(Activation activation, DType dtype) {
    for (double alpha : new double[] {1, 8, 1e-5}) {
      Epilogue epilogue = new Epilogue(alpha, 0, false, activation);
      GemmWorkload workload =
          new GemmWorkload(16, 24, 8, dtype, dtype, GemmWorkload.Layout.NT, epilogue);
      PrimFunc func = workload.func();
      assertThat(calls(func))
          .doesNotContain(MathOp.SIN, MathOp.COS, MathOp.TANH, MathOp.TANH_APPROX);
      Arguments arguments = Arguments.random(func.params(), SEED);
      Interpreter.of(func, Options.CHECKED).run(arguments);
      NdArray a = arguments.get("A");
      NdArray b = arguments.get("B");
      for (int i = 0; i < 16; i++) {
        for (int j = 0; j < 24; j++) {
          double sum = 0;
          double squares = 0;
          for (int k = 0; k < 8; k++) {
            double product = a.get(i, k) * b.get(j, k);
            sum += product;
            squares += product * product;
          }
          double exact = activation.at(alpha * sum);
          double before = workload.deviation(0).of(sum, squares, Map.of());
          assertThat(arguments.get("C").get(i, j))
              .as("%s of %s, seed %d", activation, alpha * sum, SEED)
              .isCloseTo(exact, offset(ErrorBound.of(dtype).limit(exact, before)));
        }
      }
    }
    // In f32 they are as exact as ever.
    GemmWorkload exact =
        new GemmWorkload(
            4,
            8,
            8,
            dtype,
            DType.F32,
            GemmWorkload.Layout.NT,
            new Epilogue(1, 0, false, activation));
    assertThat(calls(exact.func())).contains(MathOp.valueOf(activation.name()));
    assertThat(exact.deviation(0).offset()).isEqualTo(Math.abs(activation.at(0)));
  }

  private static Set<MathOp> calls(PrimFunc func) {
    Set<MathOp> found = EnumSet.noneOf(MathOp.class);
    Walk.expressions(
        func.body(),
        e -> {
          if (e instanceof Expr.Call call && call.op() instanceof MathOp op) {
            found.add(op);
          }
        });
    return found;
  }

  /** A gated linear unit has two sums for each element. */
  @Test
  void kernelAndHostAgreeOnGatedLinearUnits() {
    Epilogue epilogue = new Epilogue(0.5, 0, true, Activation.SILU, true, true, false, true, true);
    GemmWorkload workload =
        new GemmWorkload(9, 48, 24, DType.BF16, DType.BF16, GemmWorkload.Layout.NT, epilogue);
    Kernel kernel =
        HopperGemm.schedule(workload, HopperConfig.pairs(64, 48, 2, 1, 2).withCluster(1, 1))
            .kernel();
    BoundKernel bound = BoundKernel.of(kernel, Map.of());
    BoundWorkload.Gemm gemm = (BoundWorkload.Gemm) bound.workload();
    assertThat(gemm.workload()).isEqualTo(workload);
    assertThat(GemmWorkload.of(workload.key())).isEqualTo(workload);
    ReferenceGemm reference = ReferenceGemm.of(gemm).getFirst();
    Arguments arguments = Arguments.random(reference.kernel().params(), SEED);
    new GridInterpreter(reference.kernel(), GridOptions.DEFAULT).run(arguments);
    Arguments same = Arguments.random(reference.deviation().params(), SEED);
    List<Buffer> params = reference.kernel().buffers();
    Map<String, NdArray> byName = new HashMap<>();
    for (int p = 0; p < params.size() - 1; p++) {
      same.bind(reference.deviation().buffers().get(p), arguments.get(params.get(p)));
      byName.put(params.get(p).name(), arguments.get(params.get(p)));
    }
    new GridInterpreter(reference.deviation(), GridOptions.DEFAULT).run(same);
    WorkloadReference.Output host =
        WorkloadReference.outputs(
                gemm,
                buffer ->
                    Objects.requireNonNull(
                        byName.get(
                            buffer == gemm.a() ? "a" : buffer == gemm.b() ? "w" : buffer.name())))
            .getFirst();
    assertThat(host.values()).hasSize(9 * 24);
    for (int at = 0; at < host.values().length; at++) {
      assertThat(arguments.get(params.getLast()).element(at))
          .as("%d, seed %d", at, SEED)
          .isCloseTo(host.values()[at], offset(1e-9));
      assertThat(same.get(reference.deviation().buffers().getLast()).element(at))
          .as("deviation %d, seed %d", at, SEED)
          .isCloseTo(host.deviations()[at], offset(1e-5 * host.deviations()[at]));
      // What is rounded to bf16 is off by less than that, and more than nothing is allowed.
      assertThat(host.deviations()[at]).isPositive().isLessThan(1e-3);
    }
  }

  /** Where K is 0, no operand has elements: what is left is the epilogue of zero. */
  @ParameterizedTest
  @EnumSource(GemmWorkload.Layout.class)
  void sumsOfNoProducts(GemmWorkload.Layout layout) {
    Epilogue epilogue = new Epilogue(0.5, -2, true, Activation.RELU, true, true, true, true);
    GemmWorkload workload =
        new GemmWorkload(9, 16, 0, DType.BF16, DType.F32, layout, epilogue)
            .with(new GemmWorkload.Leading(0, 0, 20));
    Kernel kernel = PlainGemm.schedule(workload, 4, 16).kernel();
    BoundKernel bound = BoundKernel.of(kernel, Map.of());
    BoundWorkload.Gemm gemm = (BoundWorkload.Gemm) bound.workload();
    assertThat(gemm.k()).isZero();
    assertThat(gemm.m()).isEqualTo(9);
    assertThat(gemm.hasTerms()).isFalse();
    assertThat(gemm.operands()).isEqualTo(DType.BF16);
    assertThat(gemm.inputs()).isEqualTo(gemm.extras());
    assertThat(gemm.flops()).isZero();
    Arguments ours = Arguments.random(kernel.params(), SEED);
    ours.get("C").poison();
    new GridInterpreter(kernel, GridOptions.DEFAULT).run(ours);
    Kernel reference = ReferenceGemm.of(gemm).getFirst().kernel();
    assertThat(reference.buffers()).hasSize(gemm.inputs().size() + 1);
    Arguments theirs = Arguments.random(reference.params(), SEED);
    for (Buffer input : gemm.inputs()) {
      theirs.bind(
          reference.buffers().stream()
              .filter(b -> b.name().equals(input.name()))
              .findFirst()
              .orElseThrow(),
          ours.get(input));
    }
    new GridInterpreter(reference, GridOptions.DEFAULT).run(theirs);
    NdArray out = theirs.get(reference.buffers().getLast());
    for (int i = 0; i < 9; i++) {
      for (int j = 0; j < 16; j++) {
        assertThat(ours.get("C").get(i, j))
            .as("[%d, %d], seed %d", i, j, SEED)
            .isCloseTo(out.get(i, j), offset(1e-5));
      }
    }
  }

  /** Errors are those of the elements, whatever lies between rows. */
  @Test
  void errorsOfPitchedResults() {
    BoundWorkload.Gemm gemm =
        (BoundWorkload.Gemm) BoundKernel.of(kernel(Epilogue.NONE), Map.of()).workload();
    Kernel sum = ErrorSum.of(gemm.c());
    Arguments arguments = Arguments.random(sum.params(), SEED);
    NdArray x = arguments.get("x");
    NdArray y = arguments.get("y");
    arguments.get("s").fill(0);
    x.poison();
    for (int i = 0; i < 9; i++) {
      for (int j = 0; j < 16; j++) {
        y.setElement(i * 16 + j, i + j);
        x.setElement(i * 20 + j, i + j + (i == 3 && j == 5 ? 2 : 0));
      }
    }
    new GridInterpreter(sum, GridOptions.DEFAULT).run(arguments);
    OutputError error = ErrorSum.error(arguments.get("sums").toDoubles());
    assertThat(error.errors()).isEqualTo(4);
    assertThat(error.deviations().honest()).isFalse();
  }

  /** The same of products whose matrices do not follow each other. */
  @Test
  void errorsOfMatricesApart() {
    GemmWorkload workload =
        GemmWorkload.nt(9, 16, 24, DType.F32)
            .with(new GemmWorkload.Leading(0, 0, 20))
            .times(Batch.of(3).with(new Batch.Strides(300, 0, 190)));
    BoundKernel bound = BoundKernel.of(PlainGemm.schedule(workload, 4, 16).kernel(), Map.of());
    BoundWorkload.Gemm gemm = (BoundWorkload.Gemm) bound.workload();
    assertThat(gemm.text()).contains("batch=3").contains(" stridea=300 ldc=20 stridec=190");
    assertThat(BoundWorkload.bytes(gemm.a())).isEqualTo((2 * 300 + 9 * 24) * 4);
    assertThat(BoundWorkload.bytes(gemm.c())).isEqualTo((2 * 190 + 9 * 20) * 4);
    assertThat(gemm.leastBytes()).isEqualTo(3 * (9 * 24 + 16 * 24 + 9 * 16) * 4);
    Kernel sum = ErrorSum.of(gemm.c());
    Arguments arguments = Arguments.random(sum.params(), SEED);
    NdArray x = arguments.get("x");
    NdArray y = arguments.get("y");
    arguments.get("s").fill(0);
    x.poison();
    for (int p = 0; p < 3; p++) {
      for (int i = 0; i < 9; i++) {
        for (int j = 0; j < 16; j++) {
          y.setElement((p * 9 + i) * 16 + j, p + i + j);
          x.setElement(p * 190 + i * 20 + j, p + i + j + (p == 2 && i == 3 && j == 5 ? 2 : 0));
        }
      }
    }
    new GridInterpreter(sum, GridOptions.DEFAULT).run(arguments);
    OutputError error = ErrorSum.error(arguments.get("sums").toDoubles());
    assertThat(error.errors()).isEqualTo(4);
    assertThat(error.deviations().honest()).isFalse();
    // What the host makes of A: a matrix begins where the kernel reads it.
    HostMatrix all = HostMatrix.random(gemm.a(), 1, SEED);
    assertThat(all.count()).isEqualTo(2 * 300 + 9 * 24);
    assertThat(all.at(300, 9, 24).get(2, 5)).isEqualTo(all.get(300 + 2 * 24 + 5));
  }

  @Test
  void textIsReadBack() {
    for (Epilogue epilogue :
        List.of(
            Epilogue.NONE,
            new Epilogue(0.25, 3, true, Activation.GELU),
            new Epilogue(1, 0, false, Activation.NONE, true, false, true, false),
            new Epilogue(1, 0, false, Activation.SILU, false, true, false, true))) {
      assertThat(Epilogue.parse(epilogue.text())).isEqualTo(epilogue);
    }
    assertThatThrownBy(() -> Epilogue.parse("alpha:1.0,beta:0.0,bias:true,relu,gat"))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
