package dev.warpwright.lower.host;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.jvm.Parallel;
import dev.warpwright.lower.Executors;
import dev.warpwright.target.HostTarget;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MapLoweringTest {
  private static final HostTarget AVX512 = new HostTarget(512, 1);

  /** Copies a narrower input into a padded buffer, and from there to a result. */
  private static PrimFunc padding(int width) {
    int padded = (width + 15) / 16 * 16;
    Buffer x = Buffer.of("X", DType.F32, Scope.GLOBAL, 5, width);
    Buffer y = Buffer.of("Y", DType.F32, Scope.GLOBAL, 5, padded);
    Buffer wide = Buffer.of("wide", DType.F32, Scope.SHARED, 6, padded);
    Var i = Var.index("i");
    Var j = Var.index("j");
    Expr inside = Exprs.select(Exprs.lt(j, Exprs.i32(width)), Exprs.load(x, i, j), Exprs.f32(0));
    Expr guarded = Exprs.select(Exprs.lt(i, Exprs.i32(5)), inside, Exprs.f32(0));
    Var r = Var.index("r");
    Var c = Var.index("c");
    Expr formula =
        Exprs.select(
            Exprs.lt(c, Exprs.i32(width)),
            Exprs.call(MathOp.TANH, Exprs.load(wide, r, c)),
            Exprs.f32(-1));
    Stmt body =
        Stmts.alloc(
            List.of(wide),
            Stmts.seq(
                map(i, j, 6, padded, new Stmt.Store(wide, List.of(i, j), guarded)),
                map(r, c, 5, padded, new Stmt.Store(y, List.of(r, c), formula))));
    return new PrimFunc("padding", List.of(x, y), body, Attrs.NONE);
  }

  private static Stmt map(Var i, Var j, int rows, int columns, Stmt.Store store) {
    return new Stmt.TileMap(
        List.of(i, j), List.of(Exprs.i32(rows), Exprs.i32(columns)), List.of(store), Attrs.NONE);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5, 10, 15, 16, 17, 23, 28, 30, 33, 47})
  void rowsOfAnyWidthAreBitEqual(int width) {
    // tanh is expanded on the host and not in the interpreter, so only copies are compared exactly.
    PrimFunc func = copy(width);
    for (int bits : new int[] {HostTarget.SCALAR, 128, 256, 512}) {
      HostProgram lowered = HostLowering.lower(func, new HostTarget(bits, 1), Set.of());
      Executors.assertSame(func, lowered, width, Map.of(), Parallel.SERIAL);
    }
  }

  private static PrimFunc copy(int width) {
    PrimFunc full = padding(width);
    Buffer x = full.buffers().getFirst();
    Buffer y = Buffer.of("Y", DType.F32, Scope.GLOBAL, 5, width + 3);
    Var i = Var.index("i");
    Var j = Var.index("j");
    Expr value =
        Exprs.select(
            Exprs.lt(j, Exprs.i32(width)),
            Exprs.mul(Exprs.load(x, i, j), Exprs.f32(3)),
            Exprs.f32(7));
    return new PrimFunc(
        "copy",
        List.of(x, y),
        map(i, j, 5, width + 3, new Stmt.Store(y, List.of(i, j), value)),
        Attrs.NONE);
  }

  @Test
  void conditionsOnRowsAndColumnsStandInTheWayOfNoVector() {
    Kernel kernel = HostLowering.lower(padding(30), AVX512, Set.of()).kernel();
    int[] scalarTanh = {0};
    int[] vectorStores = {0};
    Walk.all(
        kernel.body(),
        s ->
            vectorStores[0] +=
                s instanceof Stmt.Store store && !store.value().type().isScalar() ? 1 : 0,
        e -> scalarTanh[0] += e instanceof Expr.Call c && c.op() == MathOp.TANH ? 1 : 0);
    assertThat(scalarTanh[0]).isZero();
    assertThat(vectorStores[0]).isGreaterThanOrEqualTo(4);
  }

  @Test
  void accumulatorsAreReplacedInPlaceAndScratchIsShared() {
    MlpProgram mlp =
        MlpProgram.of(new int[] {48, 48, 48, 48, 48}, 12, 100, DType.F32, MlpProgram.RELU);
    Stmt body = ShareScratch.apply(MergeAccumulators.apply(mlp.func().body()));
    assertThat(allocations(mlp.func().body())).isEqualTo(9);
    assertThat(allocations(body)).isEqualTo(2);
    HostProgram lowered = HostLowering.lower(mlp.func(), AVX512, mlp.constants());
    Executors.assertSame(mlp.func(), lowered, 9, Map.of("M", 31L), Parallel.SERIAL);
  }

  @Test
  void anAccumulatorThatIsReadTwiceStays() {
    MlpProgram mlp = MlpProgram.of(new int[] {8, 16}, 4, 100, DType.F32, MlpProgram.RELU);
    Buffer[] acc = new Buffer[1];
    Walk.statements(
        mlp.func().body(),
        s -> {
          if (s instanceof Stmt.TileMma mma) {
            acc[0] = mma.c().buffer();
          }
        });
    Buffer extra = Buffer.of("extra", DType.F32, Scope.GLOBAL, 4, 16);
    Var i = Var.index("i");
    Var j = Var.index("j");
    Stmt again = map(i, j, 4, 16, new Stmt.Store(extra, List.of(i, j), Exprs.load(acc[0], i, j)));
    Stmt body = new Append(again).stmt(mlp.func().body());
    assertThat(allocations(MergeAccumulators.apply(body))).isEqualTo(allocations(body));
  }

  /** Puts a statement at the end of every sequence. */
  private static final class Append extends Rewriter {
    private final Stmt last;

    Append(Stmt last) {
      this.last = last;
    }

    @Override
    public Stmt stmt(Stmt s) {
      return s instanceof Stmt.Seq seq ? Stmts.seq(seq, last) : super.stmt(s);
    }
  }

  private static int allocations(Stmt s) {
    int[] count = {0};
    Walk.statements(s, t -> count[0] += t instanceof Stmt.Alloc ? 1 : 0);
    return count[0];
  }
}
