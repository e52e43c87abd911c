package dev.warpwright.lower.tile;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import java.util.List;

/**
 * An order of columns, the same in each group of 16 or 32: the bits of a column change their
 * places. What stands where products take it from registers is then what one thread has side by
 * side.
 */
enum ColumnOrder {
  /** Rows by 16 bytes, of 16-bit operands or accumulators: a thread has 8 columns of 32. */
  OF_32(1, 8, 16, 2, 4) {
    @Override
    Expr column(Expr at) {
      Expr group = Exprs.mul(Exprs.div(at, 32), 32);
      Expr high = Exprs.mul(Exprs.div(Exprs.mod(at, 8), 2), 8);
      Expr middle = Exprs.mul(Exprs.div(Exprs.mod(at, 32), 16), 4);
      Expr low = Exprs.mul(Exprs.div(Exprs.mod(at, 16), 8), 2);
      Expr sum = Exprs.add(Exprs.add(group, high), Exprs.add(middle, low));
      return Exprs.add(sum, Exprs.mod(at, 2));
    }
  },

  /** 4 columns of 16: 8 bytes of a 16-bit operand, or 16 bytes of f32 accumulators. */
  OF_16(1, 8, 2, 4) {
    @Override
    Expr column(Expr at) {
      Expr groups = Exprs.mul(Exprs.div(at, 16), 16);
      Expr quarter = Exprs.mul(Exprs.div(Exprs.mod(at, 8), 2), 4);
      Expr half = Exprs.mul(Exprs.div(Exprs.mod(at, 16), 8), 2);
      return Exprs.add(Exprs.add(groups, quarter), Exprs.add(half, Exprs.mod(at, 2)));
    }
  },

  /** Rows by 16 bytes of an operand in tf32, of which a thread has 4 columns, 4 apart, of 16. */
  TF32_ROWS(4, 8, 1, 2) {
    @Override
    Expr column(Expr at) {
      Expr group = Exprs.mul(Exprs.div(at, 16), 16);
      Expr thread = Exprs.mul(Exprs.mod(at, 4), 4);
      Expr step = Exprs.mul(Exprs.div(Exprs.mod(at, 16), 8), 2);
      Expr half = Exprs.div(Exprs.mod(at, 8), 4);
      return Exprs.add(Exprs.add(group, thread), Exprs.add(step, half));
    }
  },

  /** Accumulators that become an operand in tf32: neighbours are 4 apart there. */
  TF32_SUMS(4, 1, 2, 8) {
    @Override
    Expr column(Expr at) {
      Expr group = Exprs.mul(Exprs.div(at, 8), 8);
      Expr thread = Exprs.mul(Exprs.mod(at, 4), 2);
      return Exprs.add(Exprs.add(group, thread), Exprs.div(Exprs.mod(at, 8), 4));
    }
  };

  private final List<Integer> weights;

  ColumnOrder(Integer... weights) {
    this.weights = List.of(weights);
  }

  /** Columns that are permuted among each other. */
  int group() {
    return 1 << weights.size();
  }

  /** Where the bits of a column go, by their weights: the inverse of {@link #column}. */
  List<Integer> weights() {
    return weights;
  }

  /** The column that stands at a place. */
  abstract Expr column(Expr at);
}
