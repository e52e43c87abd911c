package dev.warpwright.jvm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class JvmWarmUpTest {
  private static final int TILES = 6;
  private static final int VECTORS = 8;
  private static final int LANES = 4;

  private final Buffer x = Buffer.of("X", DType.F32, Scope.GLOBAL, TILES, VECTORS * LANES);
  private final Buffer y = Buffer.of("Y", DType.F32, Scope.GLOBAL, TILES, VECTORS * LANES);

  /** Squares each row in a nest of its own: y = x · x, in vectors. */
  private HostFunction squares() {
    Var tile = Var.index("tile");
    Var v = Var.index("v");
    List<Expr> at = List.of(tile, new Expr.Ramp(Exprs.mul(v, LANES), 1, LANES));
    Expr load = new Expr.Load(x, at);
    Stmt row =
        Stmt.For.of(
            ForKind.SERIAL, v, Exprs.i32(VECTORS), new Stmt.Store(y, at, Exprs.mul(load, load)));
    Stmt body = Stmt.For.of(ForKind.PARALLEL, tile, Exprs.i32(TILES), row);
    return HostCompiler.compile(
        new Kernel("k", Kernel.Kind.HOST, List.of(x, y), List.of(), body, Attrs.NONE));
  }

  private static float[] numbers() {
    float[] numbers = new float[TILES * VECTORS * LANES];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = i;
    }
    return numbers;
  }

  /** How many vectors of each row were written. */
  private static int[] written(float[] out) {
    return IntStream.range(0, TILES)
        .map(
            t ->
                (int)
                    IntStream.range(0, VECTORS)
                        .filter(v -> out[(t * VECTORS + v) * LANES] != -1)
                        .count())
        .toArray();
  }

  private int[] writtenAt(int limit) {
    float[] out = new float[TILES * VECTORS * LANES];
    Arrays.fill(out, -1);
    squares().bind(new Object[] {numbers(), out}, new long[0]).warmUp(Parallel.SERIAL, limit);
    return written(out);
  }

  @Test
  void dryCallsWriteNothing() {
    assertThat(writtenAt(0)).containsOnly(0);
  }

  @Test
  void briefCallsRunTheFirstIterationsOfEachLoop() {
    assertThat(writtenAt(1)).containsOnly(1);
    assertThat(writtenAt(2)).containsOnly(2);
  }

  @Test
  void vectorsOutsideLoopsAreLeftOutOfDryCallsToo() {
    List<Expr> first = List.of(Exprs.i32(0), new Expr.Ramp(Exprs.i32(0), 1, LANES));
    Expr seven = new Expr.Broadcast(Exprs.f32(7), LANES);
    HostFunction function =
        HostCompiler.compile(
            new Kernel(
                "k",
                Kernel.Kind.HOST,
                List.of(y),
                List.of(),
                Stmts.seq(new Stmt.Store(y, first, seven)),
                Attrs.NONE));
    float[] out = new float[TILES * VECTORS * LANES];
    BoundFunction bound = function.bind(new Object[] {out}, new long[0]);
    bound.warmUp(Parallel.SERIAL, 0);
    assertThat(out).containsOnly(0f);
    bound.run(Parallel.SERIAL);
    assertThat(Arrays.copyOf(out, LANES)).containsOnly(7f);
    assertThat(seven.type()).isEqualTo(Type.F32.withLanes(LANES));
  }

  @Test
  void whatWasRehearsedComputesTheSame() {
    float[] in = numbers();
    float[] out = new float[in.length];
    BoundFunction bound = squares().bind(new Object[] {in, out}, new long[0]);
    try (ParallelRunner pool = new ParallelRunner(2)) {
      JvmWarmUp.run(List.of(bound), pool);
      Arrays.fill(out, -1);
      bound.run(pool);
    }
    for (int i = 0; i < in.length; i++) {
      assertThat(out[i]).isEqualTo(in[i] * in[i]);
    }
  }

  @Test
  void rehearsingEndsInHalfASecond() {
    float[] in = numbers();
    BoundFunction bound = squares().bind(new Object[] {in, in.clone()}, new long[0]);
    long start = System.nanoTime();
    JvmWarmUp.run(List.of(bound), Parallel.SERIAL);
    // The limit, and a good deal for a machine that is busy.
    assertThat(System.nanoTime() - start).isLessThan(5_000_000_000L);
  }
}
