package dev.warpwright.sim.interpret;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.sim.api.FloatMode;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.Exec;
import dev.warpwright.sim.expr.ExprCompiler;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.expr.MemoryAccess;
import dev.warpwright.sim.memory.Bytes;
import dev.warpwright.sim.memory.Shadow;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Compiles {@link Stmt.TileMma}: fma in ascending k, one element of c at a time in meaning. */
final class TileMmaCompiler {
  private final Context context;
  private final ExprCompiler exprs;
  private final Stmt.TileMma mma;

  TileMmaCompiler(StmtCompiler compiler, Stmt.TileMma mma) {
    this.context = compiler.context();
    this.exprs = compiler.exprs(mma);
    this.mma = mma;
  }

  /** A region as a matrix; where more than two indices are fixed points, the last ones count. */
  private final class Matrix {
    final Buffer buffer;
    final int slot;
    final DType stored;
    final List<LongExpr> mins = new ArrayList<>();
    final LongExpr rows;
    final LongExpr cols;
    final int rowDimension;
    final int colDimension;

    Matrix(Region region) {
      buffer = region.buffer();
      slot = context.symbols().slot(buffer);
      stored = context.stored(buffer.dtype());
      List<Integer> dimensions = new ArrayList<>();
      List<Range> ranges = region.ranges();
      for (int d = 0; d < ranges.size(); d++) {
        mins.add(exprs.index(ranges.get(d).min()));
        if (!ranges.get(d).isPoint()) {
          dimensions.add(d);
        }
      }
      for (int d = ranges.size() - 1; d >= 0 && dimensions.size() < 2; d--) {
        if (!dimensions.contains(d)) {
          dimensions.add(d);
        }
      }
      dimensions.sort(null);
      if (dimensions.size() != 2) {
        throw new IllegalArgumentException(
            context.source().name()
                + ": operand is no matrix in '"
                + context.source().excerpt(mma)
                + "'");
      }
      rowDimension = dimensions.get(0);
      colDimension = dimensions.get(1);
      rows = exprs.index(ranges.get(rowDimension).extent());
      cols = exprs.index(ranges.get(colDimension).extent());
    }

    /** Storage offsets in bytes of all elements, row-major. */
    int[] offsets(Frame f) {
      int m = (int) rows.eval(f);
      int n = (int) cols.eval(f);
      long[] at = new long[mins.size()];
      for (int d = 0; d < at.length; d++) {
        at[d] = mins.get(d).eval(f);
      }
      long row = at[rowDimension];
      long col = at[colDimension];
      long[] shape = context.shape(buffer, f);
      long[] strides = MemoryAccess.linearStrides(buffer);
      int[] offsets = new int[m * n];
      for (int i = 0; i < m; i++) {
        at[rowDimension] = row + i;
        for (int j = 0; j < n; j++) {
          at[colDimension] = col + j;
          offsets[i * n + j] = offset(f, at, shape, strides) * stored.bytes();
        }
      }
      return offsets;
    }

    private int offset(Frame f, long[] at, long[] shape, long @Nullable [] strides) {
      for (int d = 0; d < at.length; d++) {
        if (at[d] < 0 || at[d] >= shape[d]) {
          throw context.outOfBounds(buffer, at, mma, f);
        }
      }
      return (int) MemoryAccess.storageOffset(buffer.layout(), strides, at);
    }

    double[] values(Frame f, boolean tf32) {
      int[] offsets = offsets(f);
      double[] values = new double[offsets.length];
      Shadow shadow = f.shadows[slot];
      for (int i = 0; i < values.length; i++) {
        if (shadow != null) {
          shadow.read(f, offsets[i] / stored.bytes(), mma);
        }
        double value =
            stored.isFloat()
                ? Bytes.real(stored, f.memory[slot], offsets[i])
                : Bytes.integer(stored, f.memory[slot], offsets[i]);
        values[i] = tf32 ? Numerics.tf32((float) value) : value;
      }
      return values;
    }
  }

  Exec compile() {
    Matrix c = new Matrix(mma.c());
    Matrix a = new Matrix(mma.a());
    Matrix b = new Matrix(mma.b());
    boolean exact = context.precision() == FloatMode.EXACT;
    boolean single = exact && c.buffer.dtype() == DType.F32;
    String instr = mma.attrs().getString("instr");
    boolean tf32 = exact && instr != null && instr.contains("tf32");
    return f -> {
      int m = (int) c.rows.eval(f);
      int n = (int) c.cols.eval(f);
      int k = (int) (mma.transposeA() ? a.rows : a.cols).eval(f);
      LongExpr bk = mma.transposeB() ? b.cols : b.rows;
      LongExpr bn = mma.transposeB() ? b.rows : b.cols;
      LongExpr am = mma.transposeA() ? a.cols : a.rows;
      if (am.eval(f) != m || bn.eval(f) != n || bk.eval(f) != k) {
        throw new IllegalArgumentException(
            context.source().name()
                + ": tiles do not fit each other in '"
                + context.source().excerpt(mma)
                + "'");
      }
      double[] x = a.values(f, tf32);
      if (mma.transposeA()) {
        x = transposed(x, k, m);
      }
      double[] y = b.values(f, tf32);
      if (mma.transposeB()) {
        y = transposed(y, n, k);
      }
      double[] sums = c.values(f, false);
      for (int i = 0; i < m; i++) {
        for (int p = 0; p < k; p++) {
          accumulate(sums, i * n, x[i * k + p], y, p * n, n, single);
        }
      }
      int[] offsets = c.offsets(f);
      Shadow shadow = f.shadows[c.slot];
      for (int i = 0; i < offsets.length; i++) {
        if (shadow != null) {
          shadow.write(f, offsets[i] / c.stored.bytes(), mma);
        }
        if (c.stored.isFloat()) {
          Bytes.putReal(c.stored, f.memory[c.slot], offsets[i], sums[i]);
        } else {
          // Exact: a sum of products of bytes is far below 2^53.
          Bytes.putInteger(c.stored, f.memory[c.slot], offsets[i], (long) sums[i]);
        }
      }
    };
  }

  private static double[] transposed(double[] values, int rows, int cols) {
    double[] result = new double[values.length];
    for (int i = 0; i < rows; i++) {
      for (int j = 0; j < cols; j++) {
        result[j * rows + i] = values[i * cols + j];
      }
    }
    return result;
  }

  private static void accumulate(
      double[] sums, int at, double x, double[] y, int from, int n, boolean single) {
    if (single) {
      float a = (float) x;
      for (int j = 0; j < n; j++) {
        sums[at + j] = Math.fma(a, (float) y[from + j], (float) sums[at + j]);
      }
    } else {
      for (int j = 0; j < n; j++) {
        sums[at + j] = Math.fma(x, y[from + j], sums[at + j]);
      }
    }
  }
}
