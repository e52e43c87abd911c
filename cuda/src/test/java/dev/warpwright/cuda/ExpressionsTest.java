package dev.warpwright.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.base.UserError;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.arith.Interval;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ExpressionsTest {
  private final Var i = Var.index("i");
  private final Var j = Var.index("j");
  private final Var n = Var.index("n");

  /** Here i is in 0..63, j in -5..5, n unknown. */
  private String print(Expr e) {
    Names names = new Names(Set.of());
    List.of(i, j, n).forEach(v -> names.declare(v, v.name()));
    Bounds bounds = Bounds.of(Map.of(i, new Interval(0, 63), j, new Interval(-5, 5)));
    return new ExprPrinter(
            names, new Uses(GpuTarget.SM_90A), new Facts(bounds), Constants.none(), Map.of())
        .print(e)
        .string();
  }

  private static Expr op(BinaryOp op, Expr a, Expr b) {
    return new Expr.Binary(op, a, b);
  }

  private static Expr c(long value) {
    return Exprs.i32(value);
  }

  @Test
  void parenthesesOnlyWhereTheyAreNeeded() {
    assertThat(print(op(BinaryOp.MUL, op(BinaryOp.ADD, i, j), n))).isEqualTo("(i + j) * n");
    assertThat(print(op(BinaryOp.ADD, op(BinaryOp.MUL, i, j), n))).isEqualTo("i * j + n");
    assertThat(print(op(BinaryOp.SUB, i, op(BinaryOp.SUB, j, n)))).isEqualTo("i - (j - n)");
    assertThat(print(op(BinaryOp.SUB, op(BinaryOp.SUB, i, j), n))).isEqualTo("i - j - n");
    assertThat(print(op(BinaryOp.ADD, i, c(-3)))).isEqualTo("i - 3");
    assertThat(
            print(op(BinaryOp.BIT_XOR, i, op(BinaryOp.SHR, op(BinaryOp.BIT_AND, i, c(6)), c(1)))))
        .isEqualTo("i ^ ((i & 6) >> 1)");
    assertThat(
            print(
                op(
                    BinaryOp.OR,
                    op(BinaryOp.AND, op(BinaryOp.LT, i, n), op(BinaryOp.GE, j, c(0))),
                    op(BinaryOp.EQ, i, j))))
        .isEqualTo("(i < n && j >= 0) || i == j");
    assertThat(print(new Expr.Unary(UnaryOp.NEG, c(-1)))).isEqualTo("-(-1)");
    assertThat(print(new Expr.Unary(UnaryOp.NEG, op(BinaryOp.ADD, i, j)))).isEqualTo("-(i + j)");
    assertThat(print(op(BinaryOp.ADD, i, new Expr.Select(op(BinaryOp.LT, i, n), i, j))))
        .isEqualTo("i + (i < n ? i : j)");
  }

  @Test
  void theOrderOfFloatSumsIsKept() {
    Expr x = Exprs.f32(1);
    Expr y = Exprs.f32(2.5);
    Expr z = Exprs.f32(-0.1);
    assertThat(print(op(BinaryOp.ADD, x, op(BinaryOp.ADD, y, z))))
        .isEqualTo("1.0f + (2.5f + -0.1f)");
    assertThat(print(op(BinaryOp.MUL, x, op(BinaryOp.MUL, y, z))))
        .isEqualTo("1.0f * (2.5f * -0.1f)");
    assertThat(print(op(BinaryOp.ADD, op(BinaryOp.ADD, x, y), z))).isEqualTo("1.0f + 2.5f + -0.1f");
  }

  @Test
  void divisionRoundsTowardMinusInfinity() {
    assertThat(print(op(BinaryOp.DIV, i, c(4)))).isEqualTo("i / 4");
    assertThat(print(op(BinaryOp.MOD, i, c(4)))).isEqualTo("i % 4");
    assertThat(print(op(BinaryOp.DIV, j, c(4)))).isEqualTo("floor_div(j, 4)");
    assertThat(print(op(BinaryOp.MOD, n, c(4)))).isEqualTo("floor_mod(n, 4)");
    // What is added makes the dividend positive, or may be added without changing the remainder.
    assertThat(print(op(BinaryOp.ADD, op(BinaryOp.DIV, j, c(4)), c(2)))).isEqualTo("(j + 8) / 4");
    assertThat(print(op(BinaryOp.ADD, op(BinaryOp.DIV, j, c(4)), c(1))))
        .isEqualTo("floor_div(j, 4) + 1");
    assertThat(print(op(BinaryOp.MOD, j, c(4)))).isEqualTo("(j + 8) % 4");
    assertThat(print(op(BinaryOp.DIV, i, n))).isEqualTo("floor_div(i, n)");
    // Where the sum would pass the greatest int, nothing is added.
    assertThat(
            print(
                op(BinaryOp.ADD, op(BinaryOp.DIV, op(BinaryOp.ADD, n, c(2)), c(7)), c(306783378))))
        .isEqualTo("floor_div(n + 2, 7) + 306783378");
  }

  @Test
  void constantsAreExact() {
    assertThat(print(Exprs.f32(0.1))).isEqualTo("0.1f");
    assertThat(print(Exprs.f32(-0.0))).isEqualTo("-0.0f");
    assertThat(print(Exprs.f32(Float.MIN_VALUE))).isEqualTo("1.4e-45f");
    assertThat(print(Exprs.f32(Float.MAX_VALUE))).isEqualTo("3.4028235e38f");
    assertThat(print(Exprs.f32(Double.POSITIVE_INFINITY))).isEqualTo("__int_as_float(0x7f800000)");
    assertThat(print(Exprs.f32(Double.NaN))).isEqualTo("__int_as_float(0x7fffffff)");
    assertThat(print(Exprs.constant(Type.F64, 0.1))).isEqualTo("0.1");
    assertThat(print(Exprs.constant(Type.F16, 1))).isEqualTo("f16{0x3c00}");
    assertThat(print(Exprs.constant(Type.BF16, -2))).isEqualTo("bf16{0xc000}");
    assertThat(print(c(Integer.MIN_VALUE))).isEqualTo("-2147483647 - 1");
    assertThat(print(new Expr.IntImm(Type.I64, Long.MIN_VALUE)))
        .isEqualTo("-9223372036854775807LL - 1");
    assertThat(print(new Expr.IntImm(Type.U32, 0xFFFFFFFFL))).isEqualTo("4294967295u");
  }

  @Test
  void largeBuffersHaveOffsetsOf64Bits() {
    Buffer small = Buffer.of("s", DType.F32, Scope.GLOBAL, List.of(n, c(4)));
    Buffer large = Buffer.of("l", DType.F32, Scope.GLOBAL, List.of(n, c(4096)));
    Var t = Var.index("t");
    Stmt body =
        Stmts.seq(
            new Stmt.Store(
                large, List.of(op(BinaryOp.ADD, t, c(1)), t), Exprs.load(small, t, c(0))));
    String text = print(List.of(small, large, new ScalarParam(n, 1, 1 << 20)), body, t);
    assertThat(text).contains("l[(long long)(t + 1) * 4096 + t] = s[t * 4];");
  }

  @Test
  void aVectorThatMayBeUnalignedIsCopiedElementByElement() {
    Buffer x = Buffer.of("x", DType.F32, Scope.GLOBAL, 4096);
    Buffer y = Buffer.of("y", DType.F32, Scope.GLOBAL, 4096);
    Var t = Var.index("t");
    Expr aligned = SampleKernels.ramp(Exprs.mul(t, 4), 4);
    Expr odd = SampleKernels.ramp(Exprs.mul(t, 3), 4);
    assertThat(print(List.of(x, y), new Stmt.Store(y, List.of(aligned), load(x, aligned)), t))
        .contains("*(Vec<float, 4>*)&y[t * 4] = *(const Vec<float, 4>*)&x[t * 4];");
    assertThat(print(List.of(x, y), new Stmt.Store(y, List.of(odd), load(x, odd)), t))
        .contains("y[t * 3 + 3] = x[t * 3 + 3];")
        .doesNotContain("Vec<");
    // Shifting in place: every element is read before one is written.
    assertThat(print(List.of(y), new Stmt.Store(y, List.of(odd), load(y, aligned)), t))
        .contains("const Vec<float, 4> y_vec = *(const Vec<float, 4>*)&y[t * 4];");
  }

  @Test
  void variablesThatSimplificationLeftUnusedAreNotDeclared() {
    Buffer x = Buffer.of("x", DType.F32, Scope.GLOBAL, 64);
    Var t = Var.index("t");
    Var warp = Var.index("warp");
    Expr offset = Exprs.add(t, Exprs.mul(warp, 32));
    Stmt store = new Stmt.Store(x, List.of(offset), Exprs.f32(1));
    // There are 64 threads, so t / 64 is 0.
    assertThat(print(List.of(x), new Stmt.Let(warp, Exprs.div(t, 64), store), t))
        .contains("x[t] = 1.0f;")
        .doesNotContain("warp");
    assertThat(print(List.of(x), new Stmt.Let(warp, Exprs.div(t, 32), store), t))
        .contains("const int warp = t / 32;");
  }

  @Test
  void vectorsMayBeVariables() {
    Buffer x = Buffer.of("x", DType.F16, Scope.GLOBAL, 1024);
    Buffer y = Buffer.of("y", DType.F32, Scope.GLOBAL, 1024);
    Var t = Var.index("t");
    Expr at = SampleKernels.ramp(Exprs.mul(t, 4), 4);
    Var v = new Var("v", Type.F16.withLanes(4));
    Stmt body =
        new Stmt.Let(v, load(x, at), new Stmt.Store(y, List.of(at), Exprs.cast(DType.F32, v)));
    assertThat(print(List.of(x, y), body, t))
        .contains("const Vec<f16, 4> v = *(const Vec<f16, 4>*)&x[t * 4];")
        .contains("to_f32(v.lane[3])");
  }

  @Test
  void aLoadIsRepeatedInTheNextStatement() {
    Buffer x = Buffer.of("x", DType.F16, Scope.GLOBAL, 1024);
    Buffer y = Buffer.of("y", DType.F32, Scope.GLOBAL, 1024);
    Var t = Var.index("t");
    Expr at = SampleKernels.ramp(Exprs.mul(t, 4), 4);
    Stmt one = new Stmt.Store(y, List.of(at), Exprs.cast(DType.F32, load(x, at)));
    assertThat(print(List.of(x, y), Stmts.seq(one, one), t))
        .contains("x_vec = *(const Vec<f16, 4>*)&x[t * 4];")
        .contains("x_vec_2 = *(const Vec<f16, 4>*)&x[t * 4];");
  }

  @Test
  void lanesThatOverlapAreReadBeforeTheyAreWritten() {
    Buffer x = Buffer.of("x", DType.F32, Scope.LOCAL, 64);
    Var t = Var.index("t");
    Expr to = SampleKernels.ramp(c(1), 4);
    Expr from = SampleKernels.ramp(c(0), 4);
    Stmt shift = new Stmt.Alloc(x, new Stmt.Store(x, List.of(to), load(x, from)));
    assertThat(print(List.of(), shift, t))
        .contains("const Vec<float, 4> x_new = *(const Vec<float, 4>*)x;")
        .contains("x[1] = x_new.lane[0];");
  }

  private static Expr load(Buffer buffer, Expr index) {
    return Exprs.load(buffer, index);
  }

  private static String print(List<? extends Param> params, Stmt body, Var t) {
    return CudaPrinter.print(kernel("k_1", params, body, t), GpuTarget.SM_90A);
  }

  private static Kernel kernel(String name, List<? extends Param> params, Stmt body, Var t) {
    return new Kernel(
        name,
        Kernel.Kind.GRID,
        List.copyOf(params),
        List.of(new ThreadBinding(ThreadAxis.THREAD_X, t, Exprs.i32(64))),
        body,
        Attrs.NONE);
  }

  /** Every operator, function and cast, on every type that has it, goes through the compiler. */
  @Test
  void everythingCompiles() {
    Optional<CudaCompiler> compiler = CudaCompilers.system();
    assumeTrue(compiler.isPresent(), "no CUDA compiler: operators are not compiled");
    List<DType> types =
        List.of(
            DType.BOOL,
            DType.I8,
            DType.U8,
            DType.I32,
            DType.U32,
            DType.I64,
            DType.U64,
            DType.F16,
            DType.BF16,
            DType.F32,
            DType.F64);
    Var t = Var.index("t");
    List<Kernel> kernels = new ArrayList<>();
    for (DType type : types) {
      Buffer in = Buffer.of("in", type, Scope.GLOBAL, 64, 4);
      List<Param> params = new ArrayList<>(List.of(in));
      List<Stmt> stmts = new ArrayList<>();
      List<Expr> values = new ArrayList<>(operators(type, in, t));
      for (DType to : types) {
        values.add(Exprs.cast(to, Exprs.load(in, t, c(0))));
        if (to.bits() == type.bits() && to != type) {
          values.add(new Expr.Bitcast(Type.of(to), Exprs.load(in, t, c(1))));
        }
      }
      Expr four = SampleKernels.ramp(c(0), 4);
      for (DType to : List.of(DType.F32, DType.F16)) {
        values.add(Exprs.cast(to, Exprs.load(in, t, four)));
      }
      for (Expr value : values) {
        Buffer out = Buffer.of("out", value.type().dtype(), Scope.GLOBAL, 64, value.type().lanes());
        params.add(out);
        Expr at = value.type().isScalar() ? c(0) : four;
        stmts.add(new Stmt.Store(out, List.of(t, at), value));
      }
      kernels.add(kernel("all_of_" + type.text(), params, Stmts.seq(stmts), t));
    }
    for (GpuTarget target : List.of(GpuTarget.SM_75, GpuTarget.SM_90A)) {
      String text = CudaPrinter.print(kernels, target);
      assertThat(compiler.get().compile(new CompileRequest(text, target.name())).bytes())
          .as(target.name())
          .isNotEmpty();
    }
  }

  private static List<Expr> operators(DType type, Buffer in, Var t) {
    boolean isStruct = type == DType.F16 || type == DType.BF16;
    Expr x = Exprs.load(in, t, c(0));
    Expr y = Exprs.load(in, t, c(1));
    List<Expr> values = new ArrayList<>();
    values.add(Exprs.constant(Type.of(type), 1));
    values.add(new Expr.Select(new Expr.Binary(BinaryOp.LT, t, c(5)), x, y));
    if (isStruct) {
      return values;
    }
    for (BinaryOp op : BinaryOp.values()) {
      boolean logical = op == BinaryOp.AND || op == BinaryOp.OR;
      boolean bits =
          List.of(
                  BinaryOp.MOD,
                  BinaryOp.BIT_AND,
                  BinaryOp.BIT_OR,
                  BinaryOp.BIT_XOR,
                  BinaryOp.SHL,
                  BinaryOp.SHR)
              .contains(op);
      boolean applies = logical ? type == DType.BOOL : type.isInt() || (!bits && type.isFloat());
      if (applies) {
        values.add(new Expr.Binary(op, x, y));
      }
    }
    if (type != DType.BOOL) {
      values.add(new Expr.Unary(UnaryOp.NEG, x));
    }
    for (MathOp op : MathOp.values()) {
      boolean approximate = op.text().endsWith("_approx");
      if (type == DType.F32
          || (type == DType.F64 && !approximate)
          || (type.isInt() && op == MathOp.ABS)) {
        values.add(new Expr.Call(op, Collections.nCopies(op.arity(), x), Type.of(type)));
      }
    }
    return values;
  }

  @Test
  void refusesWhatTheTargetDoesNotHave() {
    Kernel kernel = AsyncSample.asyncTf32();
    assertThatThrownBy(() -> CudaPrinter.print(kernel, GpuTarget.SM_75))
        .isInstanceOf(UserError.class)
        .hasMessage("cp.async.16 needs sm_80 or newer, the target is sm_75");
    Buffer big = Buffer.of("big", DType.F32, Scope.SHARED, 20_000);
    Var t = Var.index("t");
    Kernel large =
        kernel(
            "large_1",
            List.of(),
            new Stmt.Alloc(big, new Stmt.Store(big, List.of(t), Exprs.f32(0))),
            t);
    assertThatThrownBy(() -> CudaPrinter.print(large, GpuTarget.SM_75))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("80000 bytes of shared memory");
    assertThat(CudaPrinter.print(large, GpuTarget.SM_80))
        .contains("extern __shared__ __align__(16) unsigned char shared_memory[];")
        .contains("float* const big = reinterpret_cast<float*>(shared_memory);");
  }

  @Test
  void refusesWhatIsNotLowered() {
    Buffer x = Buffer.of("x", DType.F16, Scope.GLOBAL, 64);
    Var t = Var.index("t");
    Expr sum = new Expr.Binary(BinaryOp.ADD, load(x, t), load(x, t));
    Kernel kernel = kernel("k_2", List.of(x), new Stmt.Store(x, List.of(t), sum), t);
    assertThatThrownBy(() -> CudaPrinter.print(kernel, GpuTarget.SM_80))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("cast to f32 first");
    Stmt wait = new Stmt.Evaluate(new Expr.Call(Intrinsics.CP_ASYNC_WAIT, List.of(t), Type.BOOL));
    assertThatThrownBy(() -> CudaPrinter.print(kernel("k_3", List.of(), wait, t), GpuTarget.SM_80))
        .hasMessageContaining("needs a constant");
  }
}
