package dev.warpwright.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GridInterpreterTest {
  private static final long SEED = 4242;

  private final Var block = Var.index("b");
  private final Var thread = Var.index("t");
  private final Buffer x = Buffer.of("x", DType.F32, Scope.GLOBAL, 256);
  private final Buffer y = Buffer.of("y", DType.F32, Scope.GLOBAL, 256);
  private final Buffer s = Buffer.of("s", DType.F32, Scope.SHARED, 64);

  @ParameterizedTest
  @CsvSource({"1,1,1", "3,17,1", "17,3,5", "33,40,50", "0,5,5"})
  void tiledMatmulEqualsThePrimFuncBitForBit(int m, int n, int k) {
    PrimFunc func = Programs.matmul(DType.F32, m, n, k);
    Arguments expected = Arguments.random(func.params(), SEED);
    Interpreter.run(func, expected);
    Kernel kernel = Kernels.matmul(n, k, Kernels.Barriers.BOTH);
    for (GridOptions options :
        List.of(
            GridOptions.DEFAULT,
            GridOptions.DEFAULT.withWarps(GridOptions.WarpChoice.LAST),
            GridOptions.random(SEED))) {
      Arguments arguments = Arguments.random(kernel.params(), SEED, Map.of("M", m));
      arguments.get("C").poison();
      new GridInterpreter(kernel, options).run(arguments);
      assertThat(arguments.get("C").sameBits(expected.get("C")))
          .as("%s seed %d", options, SEED)
          .isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({"NO_FIRST", "NO_SECOND"})
  void aMissingBarrierIsARace(Kernels.Barriers barriers) {
    Kernel kernel = Kernels.matmul(20, 40, barriers);
    Arguments arguments = Arguments.random(kernel.params(), SEED, Map.of("M", 20));
    GridOptions lenient = GridOptions.DEFAULT;
    List<Finding> findings = new GridInterpreter(kernel, lenient).check(arguments);
    assertThat(findings).isNotEmpty();
    // Without the first barrier the very first loads read what no one wrote.
    assertThat(findings.getLast().kind())
        .isEqualTo(
            barriers == Kernels.Barriers.NO_FIRST ? Finding.Kind.UNINITIALISED : Finding.Kind.RACE);
    assertThat(findings.getLast().element()).startsWith("Bs[");
    assertThatThrownBy(() -> new GridInterpreter(kernel, GridOptions.random(SEED)).run(arguments))
        .isInstanceOf(SimulationError.class);
  }

  @Test
  void aRaceNamesBothWarps() {
    // Every thread writes what its neighbour in the other warp reads.
    Expr other = Exprs.bitXor(thread, Exprs.i32(32));
    Stmt body =
        new Stmt.Alloc(
            s,
            Stmts.seq(
                store(s, thread, Exprs.f32(1)),
                Kernels.SYNC,
                store(y, thread, Exprs.load(s, other)),
                store(s, thread, Exprs.f32(2))));
    Kernel kernel = Kernels.kernel("swap", block, 1, thread, 64, body, y);
    List<Finding> findings =
        new GridInterpreter(kernel, GridOptions.DEFAULT).check(arguments(kernel));
    assertThat(findings).hasSize(2);
    assertThat(findings.getFirst().message())
        .contains("swap: data race: s[")
        .contains("by warp 1 and write by warp 0 without a barrier")
        .contains("block (0, 0, 0) thread (32, 0, 0)");
  }

  @Test
  void blocksRaceOnGlobalMemory() {
    Kernel kernel = Kernels.kernel("same", block, 2, thread, 32, store(y, thread, Exprs.f32(1)), y);
    assertThatThrownBy(
            () -> new GridInterpreter(kernel, GridOptions.DEFAULT).run(arguments(kernel)))
        .hasMessageContaining("data race: y[0]")
        .hasMessageContaining("write by warp 0 and write by warp 0 of block (0, 0, 0) without")
        .hasMessageContaining("by block (1, 0, 0) thread (0, 0, 0)");
  }

  @Test
  void aDivergentBarrierIsAnError() {
    Stmt inWarp = new Stmt.If(Exprs.lt(thread, Exprs.i32(5)), Kernels.SYNC, null);
    Kernel kernel = Kernels.kernel("diverge", block, 1, thread, 64, inWarp);
    assertThatThrownBy(
            () -> new GridInterpreter(kernel, GridOptions.DEFAULT).run(arguments(kernel)))
        .hasMessageContaining("misuse of a barrier")
        .hasMessageContaining("only lanes 0-4 of warp 0");
    Stmt betweenWarps = new Stmt.If(Exprs.lt(thread, Exprs.i32(32)), Kernels.SYNC, null);
    Kernel second = Kernels.kernel("skip", block, 1, thread, 64, betweenWarps);
    assertThatThrownBy(
            () -> new GridInterpreter(second, GridOptions.DEFAULT).run(arguments(second)))
        .hasMessageContaining("warps [0] wait at 'sync_threads()'; warps [1] have ended");
  }

  @Test
  void lanesGoRoundLoopsAsOftenAsTheyWant() {
    Var i = Var.index("i");
    Buffer count = Buffer.of("count", DType.I32, Scope.LOCAL, 1);
    Buffer out = Buffer.of("out", DType.I32, Scope.GLOBAL, 64);
    Expr zero = Exprs.i32(0);
    Stmt increment =
        new Stmt.Store(count, List.of(zero), Exprs.add(Exprs.load(count, zero), thread));
    Expr small = Exprs.lt(Exprs.load(count, zero), Exprs.mul(thread, Exprs.add(thread, 5)));
    Stmt body =
        Stmts.seq(
            new Stmt.Store(count, List.of(zero), zero),
            Kernels.loop(i, thread, increment),
            new Stmt.While(small, increment),
            new Stmt.If(
                Exprs.eq(Exprs.mod(thread, 2), zero),
                new Stmt.Store(out, List.of(thread), Exprs.load(count, zero)),
                new Stmt.Store(out, List.of(thread), Exprs.i32(-1))));
    Kernel kernel = Kernels.kernel("loops", block, 1, thread, 40, new Stmt.Alloc(count, body), out);
    Arguments arguments = arguments(kernel);
    new GridInterpreter(kernel, GridOptions.DEFAULT).run(arguments);
    for (int t = 0; t < 40; t++) {
      assertThat(arguments.get("out").integerElement(t)).isEqualTo(t % 2 == 1 ? -1 : t * (t + 5));
    }
  }

  @Test
  void outOfBoundsNamesEverything() {
    Kernel kernel = Kernels.kernel("far", block, 9, thread, 32, store(y, at(), Exprs.f32(1)), y);
    assertThatThrownBy(
            () -> new GridInterpreter(kernel, GridOptions.DEFAULT).run(arguments(kernel)))
        .hasMessage(
            "far: out of bounds: y[256]: global f32 has shape [256], by block (8, 0, 0) thread"
                + " (0, 0, 0), in line 2 'y[b * 32 + t] = 1.0f32'");
  }

  private Expr at() {
    return Exprs.add(Exprs.mul(block, 32), thread);
  }

  @Test
  void vectorAccessesMustBeAligned() {
    Expr base = Exprs.add(Exprs.mul(thread, 4), 2);
    Expr vector = new Expr.Ramp(base, 1, 4);
    Kernel kernel =
        Kernels.kernel(
            "crooked", block, 1, thread, 8, store(y, vector, Exprs.load(x, vector)), x, y);
    assertThatThrownBy(
            () -> new GridInterpreter(kernel, GridOptions.DEFAULT).run(arguments(kernel)))
        .hasMessageContaining("misaligned vector access: x[2]: needs 16 bytes");
    Expr straight = new Expr.Ramp(Exprs.mul(thread, 4), 1, 4);
    Kernel good =
        Kernels.kernel(
            "straight", block, 1, thread, 8, store(y, straight, Exprs.load(x, straight)), x, y);
    Arguments arguments = arguments(good);
    new GridInterpreter(good, GridOptions.DEFAULT).run(arguments);
    assertThat(arguments.get("y").get(31)).isEqualTo(arguments.get("x").get(31));
  }

  @Test
  void readsOfUnwrittenSharedAndLocalMemoryAreErrors() {
    for (Scope scope : List.of(Scope.SHARED, Scope.LOCAL)) {
      Buffer buffer = s.withScope(scope);
      Kernel kernel =
          Kernels.kernel(
              "early",
              block,
              1,
              thread,
              32,
              new Stmt.Alloc(buffer, store(y, thread, Exprs.load(buffer, thread))),
              y);
      assertThatThrownBy(
              () -> new GridInterpreter(kernel, GridOptions.DEFAULT).run(arguments(kernel)))
          .hasMessageContaining("never written: s[0]");
    }
  }

  @Test
  void warpIntrinsicsInExpressions() {
    Expr sum = Exprs.load(x, thread);
    for (int mask = 16; mask > 0; mask /= 2) {
      Expr other = new Expr.Call(Intrinsics.SHFL_XOR_F32, List.of(sum, Exprs.i32(mask)), Type.F32);
      sum = Exprs.add(sum, other);
    }
    Kernel kernel = Kernels.kernel("sum", block, 1, thread, 32, store(y, thread, sum), x, y);
    Arguments arguments = arguments(kernel);
    arguments.get("x").fillWith(c -> c[0]);
    new GridInterpreter(kernel, GridOptions.DEFAULT).run(arguments);
    assertThat(arguments.get("y").get(7)).isEqualTo(31 * 32 / 2);
    Kernel partial =
        Kernels.kernel(
            "partial",
            block,
            1,
            thread,
            32,
            new Stmt.If(Exprs.lt(thread, Exprs.i32(16)), store(y, thread, sum), null),
            x,
            y);
    assertThatThrownBy(
            () -> new GridInterpreter(partial, GridOptions.DEFAULT).run(arguments(partial)))
        .hasMessageContaining("misuse of an intrinsic")
        .hasMessageContaining("only lanes 0-15 of warp 0");
  }

  @Test
  void asynchronousCopiesAreThereAfterTheWait() {
    Arguments arguments = arguments(copying(true));
    new GridInterpreter(copying(true), GridOptions.DEFAULT).run(arguments);
    for (int t = 0; t < 16; t++) {
      assertThat(arguments.get("y").get(t)).isEqualTo(t % 4 < 3 ? arguments.get("x").get(t) : 0);
    }
    assertThatThrownBy(
            () -> new GridInterpreter(copying(false), GridOptions.DEFAULT).run(arguments))
        .hasMessageContaining("data race: s[0]: an asynchronous copy to it has not been waited");
  }

  /** Four threads copy 16 bytes each, of which 12 are present. */
  private Kernel copying(boolean wait) {
    Expr four = Exprs.mul(thread, 4);
    Expr vector = new Expr.Ramp(four, 1, 4);
    Stmt body =
        Stmts.seq(
            Exprs.evaluate(
                Intrinsics.CP_ASYNC_16,
                new Expr.AddressOf(s, List.of(four)),
                new Expr.AddressOf(x, List.of(four)),
                Exprs.i32(12)),
            Exprs.evaluate(Intrinsics.CP_ASYNC_COMMIT),
            Exprs.evaluate(Intrinsics.CP_ASYNC_WAIT, Exprs.i32(wait ? 0 : 1)),
            store(y, vector, Exprs.load(s, vector)));
    return Kernels.kernel("copy", block, 1, thread, 4, new Stmt.Alloc(s, body), x, y);
  }

  @Test
  void anAsynchronousCopyRacesFromItsStart() {
    // Warp 1 reads while warp 0 has a copy under way, which it waits for behind the barrier.
    Stmt copy =
        Stmts.seq(
            Exprs.evaluate(
                Intrinsics.CP_ASYNC_4,
                new Expr.AddressOf(s, List.of(thread)),
                new Expr.AddressOf(x, List.of(thread)),
                Exprs.i32(4)),
            Exprs.evaluate(Intrinsics.CP_ASYNC_COMMIT));
    Stmt read = store(y, thread, Exprs.load(s, Exprs.add(thread, -32)));
    Stmt body =
        Stmts.seq(
            new Stmt.If(Exprs.lt(thread, Exprs.i32(32)), store(s, thread, Exprs.f32(1)), null),
            Kernels.SYNC,
            new Stmt.If(Exprs.lt(thread, Exprs.i32(32)), copy, read),
            Kernels.SYNC,
            Exprs.evaluate(Intrinsics.CP_ASYNC_WAIT, Exprs.i32(0)));
    Kernel kernel = Kernels.kernel("inflight", block, 1, thread, 64, new Stmt.Alloc(s, body), x, y);
    for (GridOptions.WarpChoice choice : GridOptions.WarpChoice.values()) {
      List<Finding> findings =
          new GridInterpreter(kernel, GridOptions.DEFAULT.withWarps(choice))
              .check(arguments(kernel));
      assertThat(findings).as("%s", choice).isNotEmpty();
      assertThat(findings.getFirst().kind()).isEqualTo(Finding.Kind.RACE);
    }
  }

  @Test
  void operandsOfIntrinsicsAreInBoundsAndAligned() {
    Kernel outside = copy16(Exprs.add(Exprs.mul(thread, 4), 52));
    assertThatThrownBy(
            () -> new GridInterpreter(outside, GridOptions.DEFAULT).run(arguments(outside)))
        .hasMessageContaining("out of bounds: s[64] + 0 bytes: operand dst");
    Kernel crooked = copy16(Exprs.mul(thread, 2));
    assertThatThrownBy(
            () -> new GridInterpreter(crooked, GridOptions.DEFAULT).run(arguments(crooked)))
        .hasMessageContaining("misaligned vector access: s[2]: operand dst needs 16 bytes");
  }

  private Kernel copy16(Expr to) {
    Stmt copy =
        Exprs.evaluate(
            Intrinsics.CP_ASYNC_16,
            new Expr.AddressOf(s, List.of(to)),
            new Expr.AddressOf(x, List.of(Exprs.i32(0))),
            Exprs.i32(16));
    return Kernels.kernel("copy", block, 1, thread, 4, new Stmt.Alloc(s, copy), x);
  }

  @Test
  void anEndlessLoopIsADeadlock() {
    Expr zero = Exprs.i32(0);
    Stmt body = new Stmt.While(Exprs.ge(thread, zero), Stmt.Seq.EMPTY);
    Kernel kernel = Kernels.kernel("forever", block, 1, thread, 1, body);
    assertThatThrownBy(
            () -> new GridInterpreter(kernel, GridOptions.DEFAULT).run(arguments(kernel)))
        .hasMessageContaining(
            "forever: deadlock: warps [0] of block (0, 0, 0) go round, without any change");
  }

  @Test
  void aWarpMayWaitForAnother() {
    // Warp 0 spins until warp 1 has counted up: other warps go on while one spins.
    Buffer flag = Buffer.of("flag", DType.I32, Scope.SHARED, 1);
    Expr zero = Exprs.i32(0);
    Stmt spin = new Stmt.While(Exprs.eq(Exprs.load(flag, zero), zero), Stmt.Seq.EMPTY);
    Stmt raise =
        new Stmt.If(
            Exprs.eq(thread, Exprs.i32(32)),
            new Stmt.Store(flag, List.of(zero), Exprs.i32(1)),
            null);
    Stmt body =
        Stmts.seq(
            new Stmt.If(Exprs.eq(thread, zero), new Stmt.Store(flag, List.of(zero), zero), null),
            Kernels.SYNC,
            new Stmt.If(Exprs.lt(thread, Exprs.i32(32)), spin, raise));
    Kernel kernel = Kernels.kernel("spin", block, 1, thread, 64, new Stmt.Alloc(flag, body));
    GridOptions options = GridOptions.random(SEED).withoutRaces();
    new GridInterpreter(kernel, options).run(arguments(kernel));
    // It is a race all the same, because nothing orders the two.
    assertThat(new GridInterpreter(kernel, GridOptions.random(SEED)).check(arguments(kernel)))
        .isNotEmpty();
  }

  @Test
  void matrixInstructionMultiplies() {
    Buffer a = Buffer.of("a", DType.U32, Scope.LOCAL, 4);
    Buffer b = Buffer.of("b", DType.U32, Scope.LOCAL, 2);
    Buffer d = Buffer.of("d", DType.F32, Scope.LOCAL, 4);
    Var i = Var.index("i");
    Expr one = new Expr.Cast(Type.F32, thread);
    Expr pair = new Expr.Call(Intrinsics.PACK_F16X2, List.of(Exprs.f32(1), Exprs.f32(1)), Type.U32);
    Expr zero = Exprs.i32(0);
    Stmt body =
        Stmts.seq(
            Programs.loop(i, 4, store(a, i, pair)),
            Programs.loop(i, 2, store(b, i, pair)),
            Programs.loop(i, 4, store(d, i, one)),
            Exprs.evaluate(
                Intrinsics.MMA_M16N8K16_F16,
                new Expr.AddressOf(d, List.of(zero)),
                new Expr.AddressOf(a, List.of(zero)),
                new Expr.AddressOf(b, List.of(zero))),
            Programs.loop(i, 4, store(y, Exprs.add(Exprs.mul(thread, 4), i), Exprs.load(d, i))));
    Kernel kernel =
        Kernels.kernel("mma", block, 1, thread, 32, Stmts.alloc(List.of(a, b, d), body), y);
    Arguments arguments = arguments(kernel);
    new GridInterpreter(kernel, GridOptions.DEFAULT).run(arguments);
    assertThat(arguments.get("y").get(4 * 9 + 3)).isEqualTo(16 + 9);
  }

  private static Stmt store(Buffer buffer, Expr index, Expr value) {
    return new Stmt.Store(buffer, List.of(index), value);
  }

  private static Arguments arguments(Kernel kernel) {
    return Arguments.random(kernel.params(), SEED);
  }
}
