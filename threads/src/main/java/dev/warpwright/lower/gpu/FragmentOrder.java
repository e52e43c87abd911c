package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Layout.Swizzle;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import java.util.ArrayList;
import java.util.List;

/**
 * The second operand of products of warps in the order of their registers: what a lane holds of 16
 * columns by 16 of K, two instructions' worth, lies in 16 bytes; those of a warp's lanes follow
 * each other, then come the next columns, then the next 16 of K. So one access of 16 bytes a lane
 * feeds two instructions, without bank conflicts, and slices along K are contiguous.
 *
 * <p>PTX ISA, "Matrix fragments for mma.m16n8k16": lane 4g + q holds of column g the elements 2q,
 * 2q + 1, 2q + 8 and 2q + 9 of K.
 */
public final class FragmentOrder {
  /** Columns and elements of K that lie together. */
  public static final int BLOCK = 16;

  /** Elements of a lane of such a block. */
  public static final int LANES = 8;

  private static final String PREFIX = "mma.m16n8k16.";

  private FragmentOrder() {}

  /** Whether a product is a warp's, its first operand in registers. */
  public static boolean isFor(Stmt.TileMma mma) {
    String instruction = mma.attrs().getString("instr");
    return instruction != null
        && instruction.startsWith(PREFIX)
        && mma.a().buffer().scope() == Scope.FRAGMENT
        && mma.transposeB()
        && !mma.transposeA();
  }

  /** Whether a matrix, or each of several, consists of whole blocks. */
  public static boolean fits(Buffer matrix) {
    int rank = matrix.rank();
    return (rank == 2 || rank == 3)
        && matrix.dtype().bytes() == 2
        && matrix.hasConstantShape()
        && matrix.extent(rank - 2) % BLOCK == 0
        && matrix.extent(rank - 1) % BLOCK == 0;
  }

  /** A matrix [N, K], or several one behind the other, in this order. */
  public static Buffer of(Buffer plain) {
    int rank = plain.rank();
    List<Expr> shape = plain.shape();
    long rows = plain.extent(rank - 2);
    long depth = plain.extent(rank - 1);
    List<List<Mode>> dimensions = new ArrayList<>();
    if (rank == 3) {
      dimensions.add(List.of(new Mode(plain.extent(0), rows * depth)));
    }
    dimensions.add(List.of(new Mode(8, 32), new Mode(2, 4), new Mode(rows / BLOCK, BLOCK * BLOCK)));
    dimensions.add(
        List.of(
            new Mode(2, 1), new Mode(4, 8), new Mode(2, 2), new Mode(depth / BLOCK, BLOCK * rows)));
    Layout layout = new Layout(dimensions, Swizzle.NONE);
    return new Buffer(plain.name(), plain.dtype(), shape, plain.scope(), layout, 16);
  }

  /** Whether a buffer has this order. */
  public static boolean is(Buffer buffer) {
    return buffer.layout() != null && fits(buffer) && buffer.layout().equals(of(buffer).layout());
  }

  /**
   * The first element of a lane's 16 bytes.
   *
   * @param rows of the matrix
   * @param row of the block, in blocks
   * @param step of the block along K, in blocks
   */
  public static Expr element(long rows, Expr row, Expr step, Expr lane) {
    Expr block = Exprs.add(Exprs.mul(step, rows / BLOCK), row);
    return Exprs.add(Exprs.mul(block, BLOCK * BLOCK), Exprs.mul(lane, LANES));
  }
}
