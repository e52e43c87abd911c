package dev.warpwright.jvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.ir.type.Type;
import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class HostCompilerTest {
  private static final int[] INTEGERS = {
    0, 1, -1, 7, -7, 8, -8, 100, -100, Integer.MAX_VALUE, Integer.MIN_VALUE
  };

  private static Kernel kernel(List<Param> params, Stmt body) {
    return new Kernel("k", Kernel.Kind.HOST, params, List.of(), body, Attrs.NONE);
  }

  private static Buffer global(String name, DType dtype, long... shape) {
    return Buffer.of(name, dtype, Scope.GLOBAL, shape);
  }

  @Test
  void integerDivisionRoundsDown() {
    Buffer a = global("A", DType.I32, 2);
    Buffer c = global("C", DType.I32, 4);
    Expr x = Exprs.load(a, Exprs.i32(0));
    Expr y = Exprs.load(a, Exprs.i32(1));
    List<Expr> values =
        List.of(
            new Expr.Binary(BinaryOp.DIV, x, y),
            new Expr.Binary(BinaryOp.MOD, x, y),
            new Expr.Binary(BinaryOp.DIV, x, Exprs.i32(8)),
            new Expr.Binary(BinaryOp.MOD, x, Exprs.i32(8)));
    HostFunction f =
        HostCompiler.compile(
            kernel(
                List.of(a, c),
                Stmts.seq(
                    IntStream.range(0, 4)
                        .mapToObj(i -> new Stmt.Store(c, List.of(Exprs.i32(i)), values.get(i)))
                        .toList())));
    for (int p : INTEGERS) {
      for (int q : INTEGERS) {
        if (q != 0) {
          int[] out = new int[4];
          f.run(new Object[] {new int[] {p, q}, out}, new long[0], Parallel.SERIAL);
          assertThat(out)
              .as("%d and %d", p, q)
              .containsExactly(
                  Math.floorDiv(p, q),
                  Math.floorMod(p, q),
                  Math.floorDiv(p, 8),
                  Math.floorMod(p, 8));
        }
      }
    }
  }

  @Test
  void minimumAndMaximumSkipNan() {
    float[] values = {0f, -0f, 1f, -2f, Float.NaN, Float.POSITIVE_INFINITY, 3e-45f, -1f};
    Buffer a = global("A", DType.F32, 64);
    Buffer b = global("B", DType.F32, 64);
    Buffer c = global("C", DType.F32, 4, 64);
    float[] left = new float[64];
    float[] right = new float[64];
    for (int i = 0; i < 64; i++) {
      left[i] = values[i / 8];
      right[i] = values[i % 8];
    }
    for (int lanes : new int[] {1, 4, 8, 16}) {
      Var i = Var.index("i");
      Expr at = Exprs.mul(i, lanes);
      Expr index = lanes == 1 ? at : new Expr.Ramp(at, 1, lanes);
      Type type = Type.F32.withLanes(lanes);
      Expr x = Exprs.load(a, index);
      Expr y = Exprs.load(b, index);
      Stmt body =
          Stmts.seq(
              new Stmt.Store(c, List.of(Exprs.i32(0), index), Exprs.max(x, y)),
              new Stmt.Store(c, List.of(Exprs.i32(1), index), Exprs.min(x, y)),
              new Stmt.Store(
                  c, List.of(Exprs.i32(2), index), Exprs.max(x, Exprs.constant(type, 0))),
              new Stmt.Store(
                  c, List.of(Exprs.i32(3), index), Exprs.min(x, Exprs.constant(type, 6))));
      float[] out = new float[256];
      HostCompiler.compile(
              kernel(List.of(a, b, c), Stmt.For.of(ForKind.SERIAL, i, Exprs.i32(64 / lanes), body)))
          .run(new Object[] {left, right, out}, new long[0], Parallel.SERIAL);
      for (int j = 0; j < 64; j++) {
        same(out[j], HostMath.max(left[j], right[j]));
        same(out[64 + j], HostMath.min(left[j], right[j]));
        same(out[128 + j], HostMath.max(left[j], 0f));
        same(out[192 + j], HostMath.min(left[j], 6f));
      }
    }
  }

  private static void same(float got, float want) {
    assertThat(Float.floatToIntBits(got)).isEqualTo(Float.floatToIntBits(want));
  }

  @Test
  void comparisonsWithNanFail() {
    Buffer a = global("A", DType.F32, 2);
    Buffer c = global("C", DType.I32, 6);
    Expr x = Exprs.load(a, Exprs.i32(0));
    Expr y = Exprs.load(a, Exprs.i32(1));
    List<BinaryOp> ops =
        List.of(BinaryOp.LT, BinaryOp.LE, BinaryOp.GT, BinaryOp.GE, BinaryOp.EQ, BinaryOp.NE);
    List<Stmt> stores = new ArrayList<>();
    for (BinaryOp op : ops) {
      Expr index = Exprs.i32(stores.size());
      stores.add(
          new Stmt.Store(c, List.of(index), new Expr.Cast(Type.I32, new Expr.Binary(op, x, y))));
    }
    HostFunction f = HostCompiler.compile(kernel(List.of(a, c), Stmts.seq(stores)));
    int[] out = new int[6];
    f.run(new Object[] {new float[] {Float.NaN, 1}, out}, new long[0], Parallel.SERIAL);
    assertThat(out).containsExactly(0, 0, 0, 0, 0, 1);
    f.run(new Object[] {new float[] {1, 2}, out}, new long[0], Parallel.SERIAL);
    assertThat(out).containsExactly(1, 1, 0, 0, 0, 1);
  }

  @Test
  void everyNarrowFloatWidensAndEveryRoundingIsToNearestEven() {
    for (DType narrow : List.of(DType.F16, DType.BF16)) {
      for (int lanes : new int[] {1, 4, 8, 16}) {
        Buffer a = global("A", narrow, 1 << 16);
        Buffer wide = global("W", DType.F32, 1 << 16);
        Buffer back = global("R", narrow, 1 << 16);
        Var i = Var.index("i");
        Expr at = Exprs.mul(i, lanes);
        Expr index = lanes == 1 ? at : new Expr.Ramp(at, 1, lanes);
        Type f32 = Type.F32.withLanes(lanes);
        Expr value = new Expr.Cast(f32, Exprs.load(a, index));
        // Just off a tie between neighbours, and on it, for most inputs.
        Expr moved = Exprs.fold(BinaryOp.MUL, value, Exprs.constant(f32, 1 + 0x1p-9));
        Stmt body =
            Stmts.seq(
                new Stmt.Store(wide, List.of(index), value),
                new Stmt.Store(back, List.of(index), new Expr.Cast(f32.withDType(narrow), moved)));
        short[] bits = new short[1 << 16];
        for (int b = 0; b < bits.length; b++) {
          bits[b] = (short) b;
        }
        float[] widened = new float[1 << 16];
        short[] rounded = new short[1 << 16];
        HostCompiler.compile(
                kernel(
                    List.of(a, wide, back),
                    Stmt.For.of(ForKind.SERIAL, i, Exprs.i32((1 << 16) / lanes), body)))
            .run(new Object[] {bits, widened, rounded}, new long[0], Parallel.SERIAL);
        for (int b = 0; b < bits.length; b++) {
          float want =
              narrow == DType.F16
                  ? Numerics.f16ToFloat((short) b)
                  : Numerics.bf16ToFloat((short) b);
          if (Float.isNaN(want)) {
            assertThat(widened[b]).isNaN();
            continue;
          }
          same(widened[b], want);
          float product = want * (float) (1 + 0x1p-9);
          short expected =
              narrow == DType.F16 ? Numerics.f16Bits(product) : Numerics.bf16Bits(product);
          assertThat(rounded[b]).as("%s of %s", narrow, product).isEqualTo(expected);
        }
      }
    }
  }

  @Test
  void parallelLoopsCaptureScalarsAndScratch() {
    Var n = Var.index("n");
    Buffer c = Buffer.of("C", DType.F32, Scope.GLOBAL, List.of(n));
    Buffer scratch = Buffer.of("s", DType.F32, Scope.SHARED, 4);
    Var i = Var.index("i");
    Var f = new Var("f", Type.F32);
    Stmt inner =
        new Stmt.Alloc(
            scratch,
            Stmts.seq(
                new Stmt.Store(
                    scratch, List.of(Exprs.mod(i, 4)), Exprs.mul(new Expr.Cast(Type.F32, i), f)),
                new Stmt.Store(c, List.of(i), Exprs.load(scratch, Exprs.mod(i, 4)))));
    Stmt body = new Stmt.Let(f, Exprs.f32(0.5), Stmt.For.of(ForKind.PARALLEL, i, n, inner));
    HostFunction function =
        HostCompiler.compile(kernel(List.of(c, new ScalarParam(n, 1, 1000)), body));
    try (ParallelRunner pool = new ParallelRunner(3)) {
      float[] out = new float[999];
      function.run(new Object[] {out}, new long[] {999}, pool);
      for (int j = 0; j < out.length; j++) {
        assertThat(out[j]).isEqualTo(j * 0.5f);
      }
    }
    assertThatThrownBy(
            () -> function.run(new Object[] {new float[1]}, new long[] {1001}, Parallel.SERIAL))
        .hasMessageContaining("1 ≤ n ≤ 1000");
    assertThatThrownBy(
            () -> function.run(new Object[] {new int[1]}, new long[] {1}, Parallel.SERIAL))
        .hasMessageContaining("float[]");
  }

  @Test
  void buffersLargerThanArraysAreRefused() {
    Buffer a = global("A", DType.F32, 1 << 16, 1 << 16);
    assertThatThrownBy(() -> HostCompiler.compile(kernel(List.of(a), Stmt.Seq.EMPTY)))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("buffer A has 4294967296 elements");
  }

  @Test
  void equalLoopNestsShareOneMethod() {
    Buffer a = global("A", DType.F32, 8, 8);
    Buffer b = global("B", DType.F32, 8, 8);
    Buffer c = global("C", DType.F32, 4, 16);
    Kernel two = kernel(List.of(a, b), Stmts.seq(increment(a, 8, 8), increment(b, 8, 8)));
    Kernel three =
        kernel(
            List.of(a, b, c),
            Stmts.seq(increment(a, 8, 8), increment(b, 8, 8), increment(c, 4, 16)));
    assertThat(parts(two)).isEqualTo(1);
    assertThat(parts(three)).isEqualTo(2);
    float[] x = new float[64];
    float[] y = new float[64];
    float[] z = new float[64];
    HostCompiler.compile(three).run(new Object[] {x, y, z}, new long[0], Parallel.SERIAL);
    assertThat(x).containsOnly(1f);
    assertThat(y).containsOnly(1f);
    assertThat(z).containsOnly(1f);
  }

  private static Stmt increment(Buffer buffer, int rows, int columns) {
    Var i = Var.index("i");
    Var j = Var.index("j");
    return Stmt.For.of(
        ForKind.SERIAL,
        i,
        Exprs.i32(rows),
        Stmt.For.of(
            ForKind.SERIAL,
            j,
            Exprs.i32(columns),
            new Stmt.Store(
                buffer, List.of(i, j), Exprs.add(Exprs.load(buffer, i, j), Exprs.f32(1)))));
  }

  private static long parts(Kernel kernel) {
    ClassDesc self = ClassDesc.of("dev.warpwright.jvm.Generated");
    return ClassFile.of().parse(new ClassEmitter(self, kernel).emit()).methods().stream()
        .filter(m -> m.methodName().stringValue().startsWith("part"))
        .count();
  }

  @Test
  void gridKernelsAreRefused() {
    Kernel grid =
        new Kernel("g", Kernel.Kind.GRID, List.of(), List.of(), Stmt.Seq.EMPTY, Attrs.NONE);
    assertThatThrownBy(() -> HostCompiler.compile(grid)).hasMessageContaining("g is a grid kernel");
  }
}
