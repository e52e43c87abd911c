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
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.lower.gpu.OperandRing;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.NdArray;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import dev.warpwright.target.intrinsic.VectorIntrinsics;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Rows that begin anywhere, in aligned vectors: all of the matrix arrives, and nothing else. */
class ShiftedCopyTest {
  private static final long SEED = Long.getLong("seed", 20261125);

  private static Range span(Expr from, long length) {
    return new Range(from, Exprs.i32(length));
  }

  /**
   * Copies all tiles of a matrix, or of several, and writes them down.
   *
   * @param together whether chunks are loaded all at once, and stored after that
   */
  private static Kernel kernel(Buffer matrix, long rows, long columns, boolean together) {
    Buffer tile = Buffer.of("As", matrix.dtype(), Scope.SHARED, rows, columns);
    OperandRing ring = OperandRing.of(tile, 1);
    int threads = 64;
    int rank = matrix.rank();
    long matrices = rank == 3 ? matrix.extent(0) : 1;
    long down = Math.ceilDiv(matrix.extent(rank - 2), rows);
    long across = Math.ceilDiv(matrix.extent(rank - 1), columns);
    Var z = Var.index("bz");
    Var y = Var.index("by");
    Var x = Var.index("bx");
    Var thread = Var.index("t");
    List<Range> ranges = new ArrayList<>();
    if (rank == 3) {
      ranges.add(Range.at(z));
    }
    ranges.add(span(Exprs.mul(y, rows), rows));
    ranges.add(span(Exprs.mul(x, columns), columns));
    Stmt.TileCopy copy =
        new Stmt.TileCopy(
            Region.whole(tile),
            new Region(matrix, ranges),
            Attrs.NONE.with("by", StageCopy.SHIFTED));
    assertThat(StageCopy.canBeShifted(copy)).isTrue();
    StageCopy all = StageCopy.of(copy, ring, threads, false);
    StageCopy some = together ? all : all.inGroups(64);
    Expr stage = Exprs.i32(0);
    Stmt copied =
        together
            ? Stmts.seq(
                some.begin(copy.from(), thread, stage), some.end(copy.from(), thread, stage))
            : some.move(copy.from(), thread, stage);
    Buffer out =
        Buffer.of("out", matrix.dtype(), Scope.GLOBAL, matrices * down * rows, across * columns);
    Stmt written =
        Stmts.loop(
            ForKind.SERIAL,
            "i",
            Math.ceilDiv(rows * columns, threads),
            i -> {
              Expr e = Exprs.add(Exprs.mul(i, threads), thread);
              Expr row = Exprs.div(e, columns);
              Expr column = Exprs.mod(e, columns);
              Expr line = Exprs.add(Exprs.mul(Exprs.add(Exprs.mul(z, down), y), rows), row);
              return ThreadCode.move(
                  out,
                  List.of(line, Exprs.add(Exprs.mul(x, columns), column)),
                  ring.ring(),
                  ring.indices(stage, row, column),
                  1);
            });
    Stmt body = Stmts.seq(copied, Exprs.evaluate(Intrinsics.SYNC_THREADS), written);
    Buffer registers = some.registers();
    assertThat(registers).isNotNull();
    return new Kernel(
        "copy",
        Kernel.Kind.GRID,
        List.of(matrix, out),
        List.of(
            new ThreadBinding(ThreadAxis.BLOCK_X, x, Exprs.i32(across)),
            new ThreadBinding(ThreadAxis.BLOCK_Y, y, Exprs.i32(down)),
            new ThreadBinding(ThreadAxis.BLOCK_Z, z, Exprs.i32(matrices)),
            new ThreadBinding(ThreadAxis.THREAD_X, thread, Exprs.i32(threads))),
        new Stmt.Alloc(ring.ring(), new Stmt.Alloc(registers, body)),
        Attrs.NONE);
  }

  private static void check(Buffer matrix, long rows, long columns, boolean together) {
    Kernel kernel = kernel(matrix, rows, columns, together);
    assertThat(Verifier.verify(kernel)).as(IrPrinter.text(kernel)).isEmpty();
    Arguments arguments = Arguments.random(kernel.params(), SEED);
    arguments.get("out").poison();
    assertThat(new GridInterpreter(kernel, GridOptions.random(SEED)).check(arguments))
        .as("%s in tiles of %s x %s, seed %s", matrix, rows, columns, SEED)
        .isEmpty();
    assertThat(firstDifference(matrix, rows, arguments))
        .as("the first difference of %s in tiles of %s x %s, seed %s", matrix, rows, columns, SEED)
        .isEqualTo(-1);
  }

  /** Where the result is not the matrix in tiles of so many rows, or its zeros around it; -1. */
  private static long firstDifference(Buffer matrix, long rows, Arguments arguments) {
    NdArray a = arguments.get(matrix.name());
    NdArray out = arguments.get("out");
    int rank = matrix.rank();
    long height = matrix.extent(rank - 2);
    long width = matrix.extent(rank - 1);
    long padded = Math.ceilDiv(height, rows) * rows;
    NdArray expected = out.copy().fill(0);
    for (int e = 0; e < a.size(); e++) {
      long line = e / width;
      expected.set(a.element(e), line / height * padded + line % height, e % width);
    }
    return out.difference(expected);
  }

  @ParameterizedTest
  @EnumSource(names = {"I8", "F16", "BF16", "F32"})
  void rowsOfAnyLengthArrive(DType dtype) {
    for (long width : new long[] {1, 3, 17, 127, 131}) {
      for (long height : new long[] {1, 3, 17, 65}) {
        Buffer matrix = Buffer.of("A", dtype, Scope.GLOBAL, height, width);
        check(matrix, 16, 128 / dtype.bytes(), width % 2 == 0);
      }
    }
  }

  @Test
  void soDoRandomOnesOfSeveralMatrices() {
    Random random = new Random(SEED);
    DType[] types = {DType.I8, DType.F16, DType.F32};
    for (int i = 0; i < 24; i++) {
      DType dtype = types[i % 3];
      long height = 1 + random.nextInt(40);
      long width = 1 + random.nextInt(140);
      Buffer matrix =
          i % 4 == 0
              ? Buffer.of("A", dtype, Scope.GLOBAL, 1 + random.nextInt(3), height, width)
              : Buffer.of("A", dtype, Scope.GLOBAL, height, width);
      // Three panels of 32 bytes: chunks of a row are no divisor of the threads.
      long columns = (random.nextBoolean() ? 128 : 96) / dtype.bytes();
      check(matrix, 8L * (1 + random.nextInt(4)), columns, random.nextBoolean());
    }
  }

  @Test
  void whatIsWrongInACallIsSeen() {
    Buffer matrix = Buffer.of("A", DType.F16, Scope.GLOBAL, 3, 17);
    for (TargetIntrinsic intrinsic :
        List.of(VectorIntrinsics.LOAD_AROUND_X4, VectorIntrinsics.STORE_SHIFTED_X4)) {
      for (int operand = 2; operand < 4; operand++) {
        // Neither a load that is never made or always, nor a shift or a count that is constant.
        for (int value : new int[] {0, intrinsic == VectorIntrinsics.LOAD_AROUND_X4 ? 1 : 14}) {
          Kernel wrong = with(kernel(matrix, 8, 64, true), intrinsic, operand, value);
          Arguments arguments = Arguments.random(wrong.params(), SEED);
          arguments.get("out").poison();
          boolean found =
              !new GridInterpreter(wrong, GridOptions.DEFAULT).check(arguments).isEmpty();
          assertThat(found || firstDifference(matrix, 8, arguments) >= 0)
              .as("operand %s of %s is %s, seed %s", operand, intrinsic, value, SEED)
              .isTrue();
        }
      }
    }
  }

  private static Kernel with(Kernel kernel, TargetIntrinsic intrinsic, int operand, int value) {
    return kernel.withBody(
        new Rewriter() {
          @Override
          public Stmt stmt(Stmt s) {
            if (s instanceof Stmt.Evaluate(Expr.Call call) && call.op() == intrinsic) {
              List<Expr> args = new ArrayList<>(call.args());
              args.set(operand, Exprs.i32(value));
              return Exprs.evaluate(intrinsic, args.toArray(new Expr[0]));
            }
            return super.stmt(s);
          }
        }.stmt(kernel.body()));
  }

  @Test
  void matricesThatBeginAnywhereAreNotForIt() {
    Buffer matrix =
        new Buffer("A", DType.F16, List.of(Exprs.i32(5), Exprs.i32(7)), Scope.GLOBAL, null, 2);
    Buffer tile = Buffer.of("As", DType.F16, Scope.SHARED, 8, 64);
    Region from = new Region(matrix, List.of(span(Exprs.i32(0), 8), span(Exprs.i32(0), 64)));
    assertThat(StageCopy.canBeShifted(new Stmt.TileCopy(Region.whole(tile), from, Attrs.NONE)))
        .isFalse();
    Region odd =
        new Region(
            Buffer.of("A", DType.F16, Scope.GLOBAL, 5, 70),
            List.of(span(Exprs.i32(0), 8), span(Exprs.i32(3), 64)));
    assertThat(StageCopy.canBeShifted(new Stmt.TileCopy(Region.whole(tile), odd, Attrs.NONE)))
        .isFalse();
  }
}
