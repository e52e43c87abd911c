package dev.warpwright.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Layout.Swizzle;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.sim.expr.MathFunctions;
import dev.warpwright.sim.memory.Bytes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InterpreterTest {
  private static final long SEED = 20250101;

  @ParameterizedTest
  @CsvSource({"1,1,1", "3,17,1", "17,3,5", "2,2,1200", "0,4,4", "4,0,4"})
  void matmulIsAnFmaChain(int m, int n, int k) {
    for (DType operands : List.of(DType.F32, DType.F16, DType.BF16)) {
      PrimFunc func = Programs.matmul(operands, m, n, k);
      Arguments arguments = Arguments.random(func.params(), SEED);
      Interpreter.run(func, arguments);
      NdArray a = arguments.get("A");
      NdArray b = arguments.get("B");
      for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
          float sum = 0;
          for (int p = 0; p < k; p++) {
            sum = Math.fma((float) a.get(i, p), (float) b.get(p, j), sum);
          }
          assertThat(arguments.get("C").get(i, j)).as("seed %d", SEED).isEqualTo(sum);
        }
      }
    }
  }

  @Test
  void anEmptyReductionWritesNothing() {
    PrimFunc func = Programs.matmul(DType.F32, 2, 2, 0);
    Arguments arguments = Arguments.random(func.params(), SEED);
    arguments.get("C").poison();
    Interpreter.run(func, arguments);
    assertThat(arguments.get("C").get(1, 1)).isNaN();
  }

  @Test
  void theFastLoopAndTheSlowLoopAgree() {
    for (Programs.Accumulate accumulate :
        List.<Programs.Accumulate>of(
            Exprs::fma,
            (a, b, c) -> Exprs.add(c, Exprs.mul(a, b)),
            (a, b, c) -> Exprs.max(Exprs.sub(a, b), c))) {
      PrimFunc func = Programs.matmul(DType.F16, 5, 7, 600, accumulate);
      Arguments fast = Arguments.random(func.params(), SEED);
      Arguments checked = fast.copy();
      Arguments slow = fast.copy();
      Interpreter.run(func, fast);
      Interpreter.of(func, Options.CHECKED).run(checked);
      Interpreter.of(oneByOne(func), Options.CHECKED).run(slow);
      assertThat(fast.get("C").sameBits(slow.get("C"))).as("seed %d", SEED).isTrue();
      assertThat(checked.get("C").sameBits(slow.get("C"))).as("seed %d", SEED).isTrue();
    }
  }

  /** The function with a sequence in its blocks, where no loop is taken for a reduction. */
  private static PrimFunc oneByOne(PrimFunc func) {
    return func.withBody(
        new Rewriter() {
          @Override
          public Stmt stmt(Stmt s) {
            return s instanceof Stmt.Block b
                ? new Stmt.Block(
                    b.name(),
                    b.iterVars(),
                    b.predicate(),
                    b.reads(),
                    b.writes(),
                    b.init(),
                    new Stmt.Seq(List.of(Stmt.Seq.EMPTY, b.body())),
                    b.attrs())
                : super.stmt(s);
          }
        }.stmt(func.body()));
  }

  /** An operand, and a sum that begins with what nobody wrote, by either loop alike. */
  @Test
  void bothLoopsFindElementsThatWereNeverWritten() {
    PrimFunc func = Programs.matmul(DType.F32, 3, 5, 4);
    for (int allocated : new int[] {0, 1}) {
      Buffer inside = func.buffers().get(allocated);
      List<Buffer> params = new ArrayList<>(func.buffers());
      params.remove(inside);
      PrimFunc found =
          new PrimFunc("f", List.copyOf(params), new Stmt.Alloc(inside, func.body()), Attrs.NONE);
      String message = failure(found);
      assertThat(message).contains("[0, 0]").isEqualTo(failure(oneByOne(found)));
    }
    Buffer sum = Buffer.of("sum", DType.F32, Scope.GLOBAL, 1);
    Buffer x = Buffer.of("x", DType.F32, Scope.GLOBAL, 9);
    Var i = Var.index("i");
    Stmt add =
        new Stmt.Store(
            sum, List.of(Exprs.i32(0)), Exprs.add(Exprs.load(sum, Exprs.i32(0)), Exprs.load(x, i)));
    PrimFunc begun =
        new PrimFunc("f", List.of(x), new Stmt.Alloc(sum, Programs.loop(i, 9, add)), Attrs.NONE);
    assertThat(failure(begun)).contains("sum");
  }

  private static String failure(PrimFunc func) {
    Arguments arguments = Arguments.random(func.params(), SEED);
    return assertThatThrownBy(() -> Interpreter.of(func, Options.CHECKED).run(arguments))
        .isInstanceOf(SimulationError.class)
        .actual()
        .getMessage();
  }

  @Test
  void doublePrecisionRoundsOnlyAtTheEnd() {
    PrimFunc func = Programs.matmul(DType.F32, 4, 5, 1000);
    Arguments arguments = Arguments.random(func.params(), SEED);
    Arguments wide = arguments.copy();
    Buffer c = func.buffers().get(2);
    wide.bind(c, NdArray.zeros(DType.F64, 4, 5));
    Interpreter.of(func, Options.DOUBLE).run(arguments);
    Interpreter.of(func, Options.DOUBLE).run(wide);
    double sum = 0;
    for (int p = 0; p < 1000; p++) {
      sum = Math.fma(arguments.get("A").get(2, p), arguments.get("B").get(p, 3), sum);
    }
    assertThat(wide.get("C").get(2, 3)).isEqualTo(sum);
    assertThat(arguments.get("C").get(2, 3)).isEqualTo((float) sum);
  }

  @Test
  void divisionRoundsDownAndTheRemainderHasTheDivisorsSign() {
    for (int a : new int[] {-7, -1, 0, 1, 7}) {
      for (int b : new int[] {-3, -1, 2, 3}) {
        Expr x = opaque(a);
        Expr quotient = new Expr.Binary(BinaryOp.DIV, x, Exprs.i32(b));
        Expr remainder = new Expr.Binary(BinaryOp.MOD, x, Exprs.i32(b));
        assertThat(Programs.evaluate(quotient).integerElement(0)).isEqualTo(Math.floorDiv(a, b));
        assertThat(Programs.evaluate(remainder).integerElement(0)).isEqualTo(Math.floorMod(a, b));
      }
    }
    assertThatThrownBy(() -> Programs.evaluate(new Expr.Binary(BinaryOp.DIV, opaque(1), opaque(0))))
        .isInstanceOf(SimulationError.class)
        .hasMessageContaining("division by zero");
  }

  /** A constant that is not folded. */
  private static Expr opaque(int value) {
    return new Expr.Cast(Type.I32, new Expr.IntImm(new Type(DType.I64, 1), value));
  }

  @Test
  void integersWrap() {
    Expr big = opaque(Integer.MAX_VALUE);
    assertThat(Programs.evaluate(new Expr.Binary(BinaryOp.ADD, big, big)).integerElement(0))
        .isEqualTo(-2);
    Expr unsigned = new Expr.Cast(Type.U32, opaque(-1));
    assertThat(
            Programs.evaluate(new Expr.Binary(BinaryOp.SHR, unsigned, new Expr.IntImm(Type.U32, 4)))
                .integerElement(0))
        .isEqualTo(0x0FFF_FFFFL);
    assertThat(
            Programs.evaluate(new Expr.Cast(new Type(DType.I8, 1), opaque(200))).integerElement(0))
        .isEqualTo(-56);
  }

  @Test
  void castsRoundSaturateAndTruncate() {
    assertThat(Programs.evaluate(new Expr.Cast(Type.F16, Exprs.f32(1 + 0x1p-11))).element(0))
        .isEqualTo(1);
    assertThat(Programs.evaluate(new Expr.Cast(Type.F16, Exprs.f32(1 + 3 * 0x1p-11))).element(0))
        .isEqualTo(1 + 0x1p-9);
    assertThat(Programs.evaluate(new Expr.Cast(Type.BF16, Exprs.f32(1 + 0x1p-8))).element(0))
        .isEqualTo(1);
    assertThat(Programs.evaluate(new Expr.Cast(Type.I32, Exprs.f32(-2.9))).element(0))
        .isEqualTo(-2);
    assertThat(Programs.evaluate(new Expr.Cast(Type.I32, Exprs.f32(1e20))).element(0))
        .isEqualTo(Integer.MAX_VALUE);
    assertThat(Programs.evaluate(new Expr.Cast(Type.of(DType.U8), Exprs.f32(-3))).element(0))
        .isEqualTo(0);
    Expr halves = new Expr.Broadcast(new Expr.FloatImm(Type.F16, 1.5), 2);
    assertThat(Programs.evaluate(new Expr.Bitcast(Type.U32, halves)).integerElement(0))
        .isEqualTo(0x3E003E00L);
  }

  @Test
  void fmaRoundsOnce() {
    Expr a = Exprs.f32(1 + 0x1p-12);
    Expr c = Exprs.f32(-1 - 0x1p-11);
    assertThat(Programs.evaluate(Exprs.fma(a, a, c)).element(0)).isEqualTo(0x1p-24);
    assertThat(Programs.evaluate(Exprs.add(Exprs.mul(a, a), c)).element(0)).isEqualTo(0);
  }

  @Test
  void minimumIgnoresNaN() {
    Expr nan = Exprs.f32(Double.NaN);
    assertThat(Programs.evaluate(Exprs.min(nan, Exprs.f32(2))).element(0)).isEqualTo(2);
    assertThat(Programs.evaluate(Exprs.max(Exprs.f32(-2), nan)).element(0)).isEqualTo(-2);
  }

  @ParameterizedTest
  @CsvSource({
    "0.1,0.1124629160182849",
    "0.5,0.5204998778130465",
    "1,0.8427007929497149",
    "2,0.9953222650189527",
    "2.9,0.9999589021219005",
    "3.1,0.9999883513426328",
    "-4,-0.9999999845827421",
    "7,1"
  })
  void errorFunction(double x, double expected) {
    assertThat(MathFunctions.erf(x)).isCloseTo(expected, within(Math.abs(expected) * 2e-15));
    assertThat(Programs.evaluate(Exprs.call(MathOp.ERF, Exprs.f32(x))).element(0))
        .isEqualTo((float) MathFunctions.erf((float) x));
  }

  @Test
  void symbolicRowsComeFromTheArgument() {
    Var m = Var.index("M");
    Buffer x = Buffer.of("x", DType.F32, Scope.GLOBAL, List.of(m, Exprs.i32(3)));
    Buffer y = Buffer.of("y", DType.F32, Scope.GLOBAL, List.of(m, Exprs.i32(3)));
    Var i = Var.index("i");
    Var j = Var.index("j");
    Stmt store = new Stmt.Store(y, List.of(i, j), Exprs.mul(Exprs.load(x, i, j), Exprs.f32(2)));
    Stmt body = Stmt.For.of(ForKind.PARALLEL, i, m, Programs.loop(j, 3, store));
    PrimFunc func =
        new PrimFunc("twice", List.of(new ScalarParam(m, 0, 100), x, y), body, Attrs.NONE);
    Arguments arguments = Arguments.random(func.params(), SEED, Map.of("M", 17));
    Interpreter.of(func, Options.EXACT.withOrder(Options.Order.SHUFFLED, SEED)).run(arguments);
    assertThat(arguments.get("y").get(16, 2)).isEqualTo(2 * arguments.get("x").get(16, 2));
    Arguments inferred =
        Arguments.of(func.params())
            .bind(x, NdArray.random(DType.F32, SEED, 5, 3))
            .bind(y, NdArray.zeros(DType.F32, 5, 3));
    Interpreter.run(func, inferred);
    assertThat(inferred.get("y").get(4, 1)).isEqualTo(2 * inferred.get("x").get(4, 1));
  }

  @Test
  void dependentParallelIterationsGiveOtherResultsInAnotherOrder() {
    Buffer x = Buffer.of("x", DType.F32, Scope.GLOBAL, 9);
    Var i = Var.index("i");
    Stmt store =
        new Stmt.Store(x, List.of(Exprs.add(i, 1)), Exprs.add(Exprs.load(x, i), Exprs.f32(1)));
    PrimFunc func = Programs.func("scan", Stmt.For.of(ForKind.PARALLEL, i, Exprs.i32(8), store), x);
    Arguments forward = Arguments.random(func.params(), SEED);
    Arguments reverse = forward.copy();
    Interpreter.run(func, forward);
    Interpreter.of(func, Options.EXACT.withOrder(Options.Order.REVERSE, 0)).run(reverse);
    assertThat(forward.get("x").sameBits(reverse.get("x"))).isFalse();
  }

  @Test
  void outOfBoundsNamesBufferIndexShapeAndStatement() {
    PrimFunc func = Programs.matmul(DType.F32, 3, 4, 5);
    Buffer c = Buffer.of("C", DType.F32, Scope.GLOBAL, 3, 4);
    Var i = Var.index("i");
    Stmt store = new Stmt.Store(c, List.of(i, Exprs.i32(1)), Exprs.f32(0));
    PrimFunc bad = Programs.func("bad", Programs.loop(i, 4, store), c);
    assertThatThrownBy(() -> Interpreter.run(bad, Arguments.random(bad.params(), 1)))
        .isInstanceOf(SimulationError.class)
        .hasMessageContaining("bad: out of bounds: C[3, 1]")
        .hasMessageContaining("shape [3, 4]")
        .hasMessageContaining("in line 3 'C[i, 1] = 0.0f32'");
    assertThatThrownBy(
            () ->
                Interpreter.run(
                    func,
                    Arguments.random(func.params(), 1)
                        .bind(func.buffers().get(1), NdArray.zeros(DType.F32, 4, 4))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("argument for B has shape [4, 4]");
  }

  @Test
  void readingWhatWasNeverWrittenIsAnErrorOnDemand() {
    Buffer scratch = Buffer.of("s", DType.F32, Scope.LOCAL, 4);
    Buffer out = Buffer.of("out", DType.F32, Scope.GLOBAL, 1);
    Stmt body =
        new Stmt.Alloc(
            scratch, new Stmt.Store(out, List.of(Exprs.i32(0)), Exprs.load(scratch, Exprs.i32(2))));
    PrimFunc func = Programs.func("early", body, out);
    Arguments arguments = Arguments.random(func.params(), 1);
    Interpreter.run(func, arguments);
    assertThat(arguments.get("out").element(0)).isNaN();
    assertThatThrownBy(() -> Interpreter.of(func, Options.CHECKED).run(arguments))
        .isInstanceOf(SimulationError.class)
        .hasMessageContaining("never written: s[2]");
  }

  @Test
  void vectorsAreReadBeforeTheyAreWritten() {
    Buffer x = Buffer.of("x", DType.F32, Scope.GLOBAL, 8);
    Expr all = new Expr.Ramp(Exprs.i32(0), 1, 8);
    Expr reversed = new Expr.Ramp(Exprs.i32(7), -1, 8);
    Var v = new Var("v", new Type(DType.F32, 8));
    Stmt body =
        new Stmt.Let(
            v,
            Exprs.load(x, reversed),
            new Stmt.Store(
                x,
                List.of(all),
                Exprs.add(Exprs.load(x, reversed), Exprs.sub(v, Exprs.load(x, reversed)))));
    PrimFunc func = Programs.func("reverse", body, x);
    Arguments arguments = Arguments.random(func.params(), SEED);
    NdArray before = arguments.get("x").copy();
    Interpreter.run(func, arguments);
    for (int i = 0; i < 8; i++) {
      assertThat(arguments.get("x").get(i)).isEqualTo(before.get(7 - i));
    }
  }

  @Test
  void bitcastsCutAndJoinLanes() {
    Buffer words = Buffer.of("words", DType.U32, Scope.GLOBAL, 4);
    Buffer halves = Buffer.of("halves", DType.F16, Scope.GLOBAL, 8);
    Expr two = new Expr.Ramp(Exprs.i32(2), 1, 2);
    Expr four = new Expr.Ramp(Exprs.i32(4), 1, 4);
    Expr joined = new Expr.Bitcast(new Type(DType.U32, 2), Exprs.load(halves, four));
    Expr cut = new Expr.Bitcast(new Type(DType.F16, 4), Exprs.load(words, two));
    Expr pair = Exprs.load(halves, new Expr.Ramp(Exprs.i32(6), 1, 2));
    Expr spread = new Expr.Broadcast(new Expr.Bitcast(Type.U32, pair), 2);
    PrimFunc func =
        Programs.func(
            "bits",
            Stmts.seq(
                new Stmt.Store(words, List.of(two), joined),
                new Stmt.Store(halves, List.of(new Expr.Ramp(Exprs.i32(0), 1, 4)), cut),
                new Stmt.Store(words, List.of(new Expr.Ramp(Exprs.i32(0), 1, 2)), spread)),
            words,
            halves);
    Arguments arguments = Arguments.random(func.params(), SEED);
    Interpreter.run(func, arguments);
    NdArray h = arguments.get("halves");
    for (int i = 0; i < 4; i++) {
      assertThat(h.get(i)).isEqualTo(h.get(i + 4));
    }
    assertThat(arguments.get("words").integerElement(1))
        .isEqualTo(arguments.get("words").integerElement(3));
  }

  @Test
  void aVectorOfWhichOnlySomeLanesAreChosen() {
    Buffer x = Buffer.of("x", DType.F32, Scope.GLOBAL, 6);
    Buffer y = Buffer.of("y", DType.F32, Scope.GLOBAL, 4);
    Expr all = new Expr.Ramp(Exprs.i32(0), 1, 4);
    Expr shifted = new Expr.Ramp(Exprs.i32(4), 1, 4);
    Expr chosen = new Expr.Binary(BinaryOp.LT, shifted, new Expr.Broadcast(Exprs.i32(6), 4));
    Expr odd =
        new Expr.Select(chosen, Exprs.load(x, shifted), Exprs.constant(new Type(DType.F32, 4), 7));
    PrimFunc func = Programs.func("some", new Stmt.Store(y, List.of(all), odd), x, y);
    Arguments arguments = Arguments.random(func.params(), SEED);
    Interpreter.run(func, arguments);
    assertThat(arguments.get("y").get(1)).isEqualTo(arguments.get("x").get(5));
    assertThat(arguments.get("y").get(2)).isEqualTo(7);
  }

  @Test
  void layoutsPlaceElements() {
    Layout swizzled =
        new Layout(List.of(List.of(new Mode(8, 8)), List.of(new Mode(8, 1))), new Swizzle(3, 0, 3));
    Buffer x = Buffer.of("x", DType.F32, Scope.GLOBAL, 8, 8);
    Buffer y = x.withName("y").withLayout(swizzled);
    Var i = Var.index("i");
    Var j = Var.index("j");
    Stmt store = new Stmt.Store(y, List.of(i, j), Exprs.load(x, i, j));
    PrimFunc func = Programs.func("place", Programs.loop(i, 8, Programs.loop(j, 8, store)), x, y);
    Arguments arguments = Arguments.random(func.params(), SEED);
    Interpreter.run(func, arguments);
    assertThat(arguments.get("y").toFloats()).isEqualTo(arguments.get("x").toFloats());
    assertThat(Bytes.getFloat(arguments.get("y").bytes(), 4 * (3 * 8 + (5 ^ 3))))
        .isEqualTo((float) arguments.get("x").get(3, 5));
  }

  @Test
  void tf32RoundsTiesAway() {
    assertThat(Numerics.tf32(1 + 0x1p-11f)).isEqualTo(1 + 0x1p-10f);
  }
}
