package dev.warpwright.lower.copy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.lower.gpu.OperandRing;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.api.KernelCounters;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tiles that become K-major on their way: all of the matrix arrives, and zeros around it. */
class TransposedCopyTest {
  private static final long SEED = Long.getLong("seed", 20261126);
  private static final int THREADS = 64;

  /** Copies all tiles of a matrix, and writes them down as they are in the matrix. */
  private static Kernel kernel(Buffer matrix, long depth, long rows, int registers) {
    Buffer tile = Buffer.of("Bs", matrix.dtype(), Scope.SHARED, depth, rows);
    OperandRing ring = OperandRing.transposed(tile, 1);
    long down = Math.ceilDiv(matrix.extent(0), depth);
    long across = Math.ceilDiv(matrix.extent(1), rows);
    Var y = Var.index("by");
    Var x = Var.index("bx");
    Var thread = Var.index("t");
    Region from =
        new Region(
            matrix,
            List.of(
                new Range(Exprs.mul(y, depth), Exprs.i32(depth)),
                new Range(Exprs.mul(x, rows), Exprs.i32(rows))));
    TransposedCopy copy = TransposedCopy.of(from, ring, THREADS, registers);
    Expr stage = Exprs.i32(0);
    Buffer loaded = copy.registers();
    Buffer out = Buffer.of("out", matrix.dtype(), Scope.GLOBAL, down * depth, across * rows);
    Stmt written =
        Stmts.loop(
            ForKind.SERIAL,
            "i",
            Math.ceilDiv(depth * rows, THREADS),
            i -> {
              Expr e = Exprs.add(Exprs.mul(i, THREADS), thread);
              Expr k = Exprs.div(e, rows);
              Expr n = Exprs.mod(e, rows);
              return ThreadCode.move(
                  out,
                  List.of(Exprs.add(Exprs.mul(y, depth), k), Exprs.add(Exprs.mul(x, rows), n)),
                  ring.ring(),
                  ring.indices(stage, k, n),
                  1);
            });
    Stmt body =
        Stmts.seq(
            copy.move(loaded, thread, stage), Exprs.evaluate(Intrinsics.SYNC_THREADS), written);
    return new Kernel(
        "copy",
        Kernel.Kind.GRID,
        List.of(matrix, out),
        List.of(
            new ThreadBinding(ThreadAxis.BLOCK_X, x, Exprs.i32(across)),
            new ThreadBinding(ThreadAxis.BLOCK_Y, y, Exprs.i32(down)),
            new ThreadBinding(ThreadAxis.THREAD_X, thread, Exprs.i32(THREADS))),
        new Stmt.Alloc(ring.ring(), new Stmt.Alloc(loaded, body)),
        Attrs.NONE);
  }

  private static void check(Buffer matrix, long depth, long rows, int registers) {
    Kernel kernel = kernel(matrix, depth, rows, registers);
    assertThat(Verifier.verify(kernel)).as(IrPrinter.text(kernel)).isEmpty();
    Arguments arguments = Arguments.random(kernel.params(), SEED);
    arguments.get("out").poison();
    String what = matrix + " in tiles of " + depth + " x " + rows + ", seed " + SEED;
    assertThat(new GridInterpreter(kernel, GridOptions.random(SEED)).check(arguments))
        .as(what)
        .isEmpty();
    NdArray b = arguments.get(matrix.name());
    NdArray out = arguments.get("out");
    NdArray expected = out.copy().fill(0);
    long width = matrix.extent(1);
    for (int e = 0; e < b.size(); e++) {
      expected.set(b.element(e), e / width, e % width);
    }
    assertThat(out.difference(expected)).as("the first difference of " + what).isEqualTo(-1);
  }

  @Test
  void randomTilesArrive() {
    Random random = new Random(SEED);
    for (int i = 0; i < 30; i++) {
      long depth = 8L * (1 + random.nextInt(8));
      long rows = 8L * (1 + random.nextInt(12));
      long height = 1 + random.nextInt(100);
      long width = 1 + random.nextInt(150);
      int registers = 40 + 8 * random.nextInt(20);
      check(Buffer.of("B", DType.F32, Scope.GLOBAL, height, width), depth, rows, registers);
    }
  }

  @Test
  void soDoBytesOfWholeVectors() {
    Random random = new Random(SEED);
    for (int i = 0; i < 20; i++) {
      long depth = 32L * (1 + random.nextInt(4));
      long rows = 16L * (1 + random.nextInt(6));
      long height = 1 + random.nextInt(150);
      long width = 16L * (1 + random.nextInt(9));
      DType dtype = i % 2 == 0 ? DType.I8 : DType.F8E4M3;
      check(Buffer.of("B", dtype, Scope.GLOBAL, height, width), depth, rows, 40 + 64 * (i % 3));
    }
  }

  /** Beside what is loaded a thread needs 32 registers; more than three steps cover nothing. */
  @ParameterizedTest
  @CsvSource({
    "32, 64, 1",
    "32, 95, 1",
    "32, 96, 2",
    "32, 127, 2",
    "32, 128, 3",
    "32, 232, 3",
    // One step is loaded ahead even if it does not fit: who asks knows that it does.
    "64, 80, 1"
  })
  void stepsAreLoadedAheadAsRegistersHold(long loaded, int registers, int steps) {
    assertThat(TransposedCopy.ahead(loaded, registers)).isEqualTo(steps);
  }

  /** Of rows of 128 bytes in shared memory, whatever vectors the matrix allows. */
  @ParameterizedTest
  @CsvSource({"F32, 32, 128", "F32, 32, 130", "F32, 64, 127", "I8, 128, 128", "I8, 256, 144"})
  void banksAreMetOnce(DType dtype, long depth, long width) {
    Buffer matrix = Buffer.of("B", dtype, Scope.GLOBAL, 2 * depth, width);
    Kernel kernel = kernel(matrix, depth, 64, 152);
    KernelCounters counted =
        new GridInterpreter(kernel, GridOptions.counting(4))
            .count(
                Arguments.random(kernel.params(), SEED),
                new KernelCounters.Caches(64 << 10, 1 << 20, 4));
    assertThat(counted.sharedStores().units()).isPositive();
    assertThat(counted.sharedStores().lost()).isZero();
  }
}
