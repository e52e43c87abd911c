package dev.warpwright.lower.host;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.ReduceOp;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.jvm.HostCompiler;
import dev.warpwright.jvm.Parallel;
import dev.warpwright.jvm.ParallelRunner;
import dev.warpwright.lower.Executors;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Verification;
import dev.warpwright.target.HostTarget;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HostLoweringTest {
  private static final HostTarget AVX512 = new HostTarget(512, 2);

  @ParameterizedTest
  @CsvSource({
    "512, 1, 12, f32",
    "512, 2, 16, f32",
    "512, 2, 7, f32",
    "256, 1, 13, f32",
    "128, 1, 5, f32",
    "512, 1, 12, bf16",
    "512, 1, 12, f16",
    "256, 2, 6, bf16",
    "128, 1, 4, f16",
    "32, 1, 12, f32",
    "32, 2, 5, bf16"
  })
  void fusedNetworksAreBitEqual(int bits, int cores, int bm, String weights) {
    MlpProgram mlp =
        MlpProgram.of(
            new int[] {5, 33, 48, 17, 64, 10}, bm, 1000, DType.parse(weights), MlpProgram.RELU);
    HostProgram lowered =
        HostLowering.lower(mlp.func(), new HostTarget(bits, cores), mlp.constants());
    for (long rows : new long[] {1, bm, 3L * bm + 1}) {
      Executors.assertSame(mlp.func(), lowered, 7 + rows, Map.of("M", rows), Parallel.SERIAL);
    }
  }

  @Test
  void randomWidthsAndBlocksAreBitEqual() {
    long seed = new Random().nextLong();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    try (ParallelRunner pool = new ParallelRunner(3)) {
      for (int round = 0; round < 12; round++) {
        int[] widths = random.ints(2 + random.nextInt(4), 1, 100).toArray();
        int bm = 1 + random.nextInt(30);
        MlpProgram mlp = MlpProgram.of(widths, bm, 500, DType.F32, MlpProgram.RELU);
        int bits = List.of(HostTarget.SCALAR, 128, 256, 512).get(random.nextInt(4));
        HostProgram lowered =
            HostLowering.lower(mlp.func(), new HostTarget(bits, 2), mlp.constants());
        long rows = 1 + random.nextInt(100);
        Executors.assertSame(mlp.func(), lowered, seed + round, Map.of("M", rows), pool);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"512, 1", "512, 2", "512, 3", "256, 1", "256, 2", "128, 1", "32, 1"})
  void fewRowsTakeSeveralPanelsSideBySide(int bits, int rows) {
    MlpProgram mlp = MlpProgram.of(new int[] {40, 300, 17}, rows, rows, DType.F32, MlpProgram.RELU);
    HostProgram lowered = HostLowering.lower(mlp.func(), new HostTarget(bits, 1), mlp.constants());
    Executors.assertSame(mlp.func(), lowered, rows, Map.of("M", (long) rows), Parallel.SERIAL);
  }

  @ParameterizedTest
  @CsvSource({"512, 1", "512, 2", "256, 2", "32, 1"})
  void manyTermsAreAccumulatedInSlicesInTheSameOrder(int bits, int cores) {
    MlpProgram mlp = MlpProgram.of(new int[] {2500, 150, 3}, 25, 25, DType.F32, MlpProgram.RELU);
    HostProgram lowered =
        HostLowering.lower(mlp.func(), new HostTarget(bits, cores), mlp.constants());
    try (ParallelRunner pool = new ParallelRunner(cores)) {
      Executors.assertSame(mlp.func(), lowered, 3, Map.of("M", 25L), pool);
    }
  }

  @ParameterizedTest
  @CsvSource({"50, 20, f32", "64, 33, f32", "7, 100, f32", "33, 48, bf16"})
  void rightOperandsThatAreNewInEveryCallArePackedByRows(int k, int n, String type) {
    DType dtype = DType.parse(type);
    Buffer a = Buffer.of("A", DType.F32, Scope.GLOBAL, 13, k);
    Buffer b = Buffer.of("B", dtype, Scope.GLOBAL, k, n);
    Buffer c = Buffer.of("C", DType.F32, Scope.GLOBAL, 13, n);
    Buffer acc = Buffer.of("acc", DType.F32, Scope.FRAGMENT, 13, n);
    Stmt body =
        Stmts.alloc(
            List.of(acc),
            Stmts.seq(
                new Stmt.TileFill(Region.whole(acc), Exprs.f32(0), Attrs.NONE),
                new Stmt.TileMma(
                    Region.whole(acc), Region.whole(a), Region.whole(b), false, Attrs.NONE),
                new Stmt.TileCopy(Region.whole(c), Region.whole(acc), Attrs.NONE)));
    PrimFunc func = new PrimFunc("product", List.of(a, b, c), body, Attrs.NONE);
    for (int bits : new int[] {HostTarget.SCALAR, 256, 512}) {
      HostProgram lowered = HostLowering.lower(func, new HostTarget(bits, 1), Set.of());
      Executors.assertSame(func, lowered, 5 + n, Map.of(), Parallel.SERIAL);
    }
  }

  @Test
  void fewRowsRunPanelsInParallel() {
    MlpProgram mlp = MlpProgram.of(new int[] {512, 1100, 7}, 4, 4, DType.F32, MlpProgram.RELU);
    HostProgram lowered = HostLowering.lower(mlp.func(), AVX512, mlp.constants());
    assertThat(loops(lowered.kernel(), ForKind.PARALLEL)).isEqualTo(1);
    try (ParallelRunner pool = new ParallelRunner(2)) {
      Executors.assertSame(mlp.func(), lowered, 3, Map.of("M", 3L), pool);
    }
  }

  @Test
  void oneBlockOfRowsRunsPanelsInParallelEvenWhereMoreArePossible() {
    MlpProgram mlp = MlpProgram.of(new int[] {512, 1100, 7}, 4, 1000, DType.F32, MlpProgram.RELU);
    HostProgram lowered = HostLowering.lower(mlp.func(), AVX512, mlp.constants());
    assertThat(loops(lowered.kernel(), ForKind.PARALLEL)).isEqualTo(2);
    try (ParallelRunner pool = new ParallelRunner(2)) {
      for (long rows : new long[] {1, 4, 5, 17}) {
        Executors.assertSame(mlp.func(), lowered, rows, Map.of("M", rows), pool);
      }
    }
  }

  @Test
  void operandsThatAreNotConstantArePackedOnTheRun() {
    MlpProgram mlp = MlpProgram.of(new int[] {20, 50}, 8, 100, DType.F32, MlpProgram.RELU);
    HostProgram lowered = HostLowering.lower(mlp.func(), AVX512, Set.of());
    assertThat(lowered.packed()).isEmpty();
    Executors.assertSame(mlp.func(), lowered, 11, Map.of("M", 19L), Parallel.SERIAL);
  }

  @Test
  void multiplicationsOfIntermediatesAreLoweredToo() {
    Buffer a = Buffer.of("A", DType.F32, Scope.GLOBAL, 9, 21);
    Buffer c = Buffer.of("C", DType.F32, Scope.GLOBAL, 9, 9);
    Buffer left = Buffer.of("left", DType.F32, Scope.SHARED, 9, 21);
    Buffer acc = Buffer.of("acc", DType.F32, Scope.FRAGMENT, 9, 9);
    Stmt body =
        Stmts.alloc(
            List.of(left, acc),
            Stmts.seq(
                new Stmt.TileCopy(Region.whole(left), Region.whole(a), Attrs.NONE),
                new Stmt.TileFill(Region.whole(acc), Exprs.f32(0.5), Attrs.NONE),
                new Stmt.TileMma(
                    Region.whole(acc), Region.whole(left), Region.whole(left), true, Attrs.NONE),
                new Stmt.TileCopy(Region.whole(c), region(acc, 9, 9), Attrs.NONE)));
    PrimFunc func = new PrimFunc("gram", List.of(a, c), body, Attrs.NONE);
    HostProgram lowered = HostLowering.lower(func, AVX512, Set.of());
    Executors.assertSame(func, lowered, 5, Map.of(), Parallel.SERIAL);
  }

  @Test
  void reductionsAreWithinRounding() {
    // Sums are taken in another order, so only maxima are bit-equal.
    Buffer a = Buffer.of("A", DType.F32, Scope.GLOBAL, 5, 83);
    Buffer c = Buffer.of("C", DType.F32, Scope.GLOBAL, 5);
    Var i = Var.index("i");
    Var k = Var.index("k");
    Stmt body =
        Stmts.seq(
            new Stmt.TileFill(Region.whole(c), Exprs.f32(-1), Attrs.NONE),
            new Stmt.TileReduce(
                ReduceOp.MAX,
                List.of(i),
                List.of(Exprs.i32(5)),
                List.of(k),
                List.of(Exprs.i32(83)),
                c,
                List.of(i),
                Exprs.load(a, i, k),
                Attrs.NONE));
    PrimFunc func = new PrimFunc("rowmax", List.of(a, c), body, Attrs.NONE);
    HostProgram lowered = HostLowering.lower(func, AVX512, Set.of());
    Executors.assertSame(func, lowered, 5, Map.of(), Parallel.SERIAL);
  }

  @Test
  void functionsAreExpandedBeforeVectorization() {
    MlpProgram mlp =
        MlpProgram.of(new int[] {8, 33, 4}, 6, 100, DType.F32, e -> Exprs.call(MathOp.TANH, e));
    HostProgram lowered = HostLowering.lower(mlp.func(), AVX512, mlp.constants());
    int[] calls = new int[1];
    int[] vectors = new int[1];
    Walk.expressions(
        lowered.kernel().body(),
        e -> {
          if (e instanceof Expr.Call c && c.op() == MathOp.TANH) {
            calls[0]++;
          }
          if (e instanceof Expr.Bitcast c && !c.type().equals(Type.F32)) {
            vectors[0]++;
          }
        });
    assertThat(calls[0]).isZero();
    assertThat(vectors[0]).isPositive();
  }

  @Test
  void normalizedRowsAreWithinRounding() {
    // A layer norm: statistics by reductions, then a map that reads one value per row.
    int bm = 5;
    int n = 83;
    Buffer x = Buffer.of("X", DType.F32, Scope.GLOBAL, bm, n);
    Buffer gamma = Buffer.of("gamma", DType.F32, Scope.GLOBAL, n);
    Buffer y = Buffer.of("Y", DType.F32, Scope.GLOBAL, bm, n);
    Buffer in = Buffer.of("in", DType.F32, Scope.SHARED, bm, n);
    Buffer mean = Buffer.of("mean", DType.F32, Scope.SHARED, bm);
    Buffer square = Buffer.of("square", DType.F32, Scope.SHARED, bm);
    Buffer out = Buffer.of("out", DType.F32, Scope.SHARED, bm, n);
    Var i = Var.index("i");
    Var j = Var.index("j");
    Expr share = Exprs.f32(1.0 / n);
    Expr centred = Exprs.sub(Exprs.load(in, i, j), Exprs.load(mean, i));
    Expr variance = Exprs.add(Exprs.load(square, i), Exprs.f32(1e-5));
    Expr scaled = Exprs.mul(centred, Exprs.call(MathOp.RSQRT, variance));
    Stmt body =
        Stmts.alloc(
            List.of(in, mean, square, out),
            Stmts.seq(
                new Stmt.TileCopy(Region.whole(in), Region.whole(x), Attrs.NONE),
                new Stmt.TileFill(Region.whole(mean), Exprs.f32(0), Attrs.NONE),
                sum(mean, i, j, bm, n, Exprs.mul(Exprs.load(in, i, j), share)),
                new Stmt.TileFill(Region.whole(square), Exprs.f32(0), Attrs.NONE),
                sum(square, i, j, bm, n, Exprs.mul(Exprs.mul(centred, centred), share)),
                new Stmt.TileMap(
                    List.of(i, j),
                    List.of(Exprs.i32(bm), Exprs.i32(n)),
                    List.of(
                        new Stmt.Store(
                            out, List.of(i, j), Exprs.mul(scaled, Exprs.load(gamma, j)))),
                    Attrs.NONE),
                new Stmt.TileCopy(Region.whole(y), region(out, bm, n), Attrs.NONE)));
    PrimFunc func = new PrimFunc("norm", List.of(x, gamma, y), body, Attrs.NONE);
    Kernel kernel = HostLowering.lower(func, AVX512, Set.of()).kernel();
    Arguments want = Executors.interpreted(func, 23, Map.of());
    Arguments before = Arguments.random(func.params(), 23);
    Object[] arrays = {
      Executors.toArray(before.get(x)), Executors.toArray(before.get(gamma)), new float[bm * n]
    };
    HostCompiler.compile(kernel).run(arrays, new long[0], Parallel.SERIAL);
    NdArray got = NdArray.ofFloats((float[]) arrays[2], bm, n);
    assertThat(Verification.compare(got, want.get(y)).within(1e-6)).isTrue();
  }

  private static Stmt sum(Buffer to, Var i, Var j, int rows, int columns, Expr value) {
    return new Stmt.TileReduce(
        ReduceOp.SUM,
        List.of(i),
        List.of(Exprs.i32(rows)),
        List.of(j),
        List.of(Exprs.i32(columns)),
        to,
        List.of(i),
        value,
        Attrs.NONE);
  }

  private static Region region(Buffer buffer, long rows, long columns) {
    return new Region(buffer, List.of(Range.of(rows), Range.of(columns)));
  }

  private static long loops(Kernel kernel, ForKind kind) {
    int[] count = new int[1];
    Walk.statements(
        kernel.body(), s -> count[0] += s instanceof Stmt.For f && f.kind() == kind ? 1 : 0);
    return count[0];
  }
}
