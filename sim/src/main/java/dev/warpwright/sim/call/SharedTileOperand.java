package dev.warpwright.sim.call;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Swizzle;
import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.block.SharedRows;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.ExprCompiler;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.MemoryAccess;
import dev.warpwright.sim.finding.Source;
import dev.warpwright.target.MatrixDescriptor;
import dev.warpwright.target.SharedTile;

/**
 * A tile of a shared buffer, given by its first element, that a unit beside the threads accesses.
 */
final class SharedTileOperand {
  /** Bytes to which the tiles of bulk tensor copies are aligned in shared memory. */
  private static final int COPY_ALIGNMENT = 128;

  private final Context context;
  private final Stmt where;
  private final Buffer buffer;
  private final MemoryAccess access;
  private final SharedTile tile;
  private final Layout plain;
  private final Swizzle swizzle;
  private final int rank;
  private final int alignment;

  private SharedTileOperand(ExprCompiler exprs, Expr.AddressOf address, boolean described) {
    this.context = exprs.context();
    this.where = exprs.where();
    this.buffer = address.buffer();
    this.access = new MemoryAccess(exprs, buffer, address.indices());
    this.tile = SharedTile.of(buffer);
    this.rank = buffer.rank();
    Layout layout = buffer.layout();
    if (layout == null) {
      long[] shape = new long[rank];
      for (int d = 0; d < rank; d++) {
        shape[d] = buffer.extent(d);
      }
      layout = Layout.rowMajor(shape);
    }
    this.swizzle = layout.swizzle();
    this.plain = new Layout(layout.dimensions(), Swizzle.NONE);
    int swizzled = described ? tile.repeat() : COPY_ALIGNMENT;
    this.alignment = tile.swizzled() ? swizzled : SharedRows.CHUNK_BYTES;
  }

  /** Of a product: a descriptor begins where the swizzle's pattern does. */
  static SharedTileOperand ofProduct(ExprCompiler exprs, Expr.AddressOf address) {
    return new SharedTileOperand(exprs, address, true);
  }

  /** Of a TMA copy, which swizzles by the bits of addresses, wherever it begins. */
  static SharedTileOperand ofCopy(ExprCompiler exprs, Expr.AddressOf address) {
    return new SharedTileOperand(exprs, address, false);
  }

  Buffer buffer() {
    return buffer;
  }

  /** Where the tile lies, after checking that it is inside its rows and columns. */
  SharedRows rows(Frame f, int rows, int columns) {
    return rows(f, rows, columns, 1);
  }

  /**
   * The same for a tile whose columns may go on in further panels: the dimension before rows and
   * columns.
   */
  SharedRows panels(Frame f, int rows, int columns) {
    int width = (int) Math.min(columns, buffer.extent(rank - 1));
    return rows(f, rows, width, Math.ceilDiv(columns, width));
  }

  private SharedRows rows(Frame f, int rows, int columns, int panels) {
    long[] at = access.coordinates(f);
    for (int d = 0; d < rank; d++) {
      long size = d == rank - 1 ? columns : d == rank - 2 ? rows : d == rank - 3 ? panels : 1;
      if (at[d] < 0 || at[d] + size > buffer.extent(d)) {
        throw context.fault(
            Finding.Kind.OUT_OF_BOUNDS,
            where,
            f,
            Source.element(buffer, at),
            "a tile of " + rows + "x" + columns + ", the buffer is " + buffer);
      }
    }
    int bytes = buffer.dtype().bytes();
    long first = plain.offset(at);
    long row = first - at[rank - 1];
    if (row * bytes % alignment != 0 || at[rank - 1] * bytes % SharedRows.CHUNK_BYTES != 0) {
      throw context.fault(
          Finding.Kind.MISALIGNED,
          where,
          f,
          Source.element(buffer, at),
          "the tile must begin at a multiple of "
              + alignment
              + " bytes, its offset is "
              + row * bytes);
    }
    long pitch = rank < 2 ? columns : tile.width() / bytes;
    long panel = panels > 1 ? MatrixDescriptor.panelBytes(buffer) / bytes : 0;
    long width = panels > 1 ? buffer.extent(rank - 1) : Math.max(columns, pitch);
    return new SharedRows(access.slot(), bytes, first, pitch, panel, width, swizzle);
  }
}
