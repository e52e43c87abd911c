package dev.warpwright.sim.call;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.counter.Counting;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.ExprCompiler;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.MemoryAccess;
import dev.warpwright.sim.finding.Source;
import dev.warpwright.sim.memory.Actor;
import dev.warpwright.sim.memory.Shadow;
import dev.warpwright.target.MatrixRows;

/**
 * A tile of a matrix in global memory, or of one of several, that TMA copies access; it may reach
 * beyond the matrix.
 */
final class GlobalTileOperand {
  private static final int PITCH_ALIGNMENT = 16;

  private final Context context;
  private final Stmt where;
  private final Buffer buffer;
  private final MemoryAccess access;

  GlobalTileOperand(ExprCompiler exprs, Expr.AddressOf address) {
    this.context = exprs.context();
    this.where = exprs.where();
    this.buffer = address.buffer();
    this.access = new MemoryAccess(exprs, buffer, address.indices());
    if (!MatrixRows.are(buffer)) {
      throw new IllegalArgumentException(
          context.source().name()
              + ": TMA copies of "
              + buffer.name()
              + ", which is not row-major");
    }
  }

  /** The tile in this execution. */
  Tile at(Frame f, int rows, int columns) {
    long[] at = access.coordinates(f);
    int rowDimension = buffer.rank() - 2;
    long width = context.extent(buffer, rowDimension + 1, f);
    long pitch = buffer.layout() == null ? width : MatrixRows.leadingDimension(buffer);
    if (pitch * buffer.dtype().bytes() % PITCH_ALIGNMENT != 0) {
      throw context.fault(
          Finding.Kind.MISALIGNED,
          where,
          f,
          buffer.name(),
          "TMA copies need rows of a multiple of 16 bytes, these have "
              + pitch * buffer.dtype().bytes());
    }
    long height = context.extent(buffer, rowDimension, f);
    long distance = buffer.layout() == null ? height * width : MatrixRows.distance(buffer);
    if (rowDimension > 0 && distance * buffer.dtype().bytes() % PITCH_ALIGNMENT != 0) {
      throw context.fault(
          Finding.Kind.MISALIGNED,
          where,
          f,
          buffer.name(),
          "TMA copies need matrices a multiple of 16 bytes apart, these are "
              + distance * buffer.dtype().bytes());
    }
    long plane = rowDimension == 0 ? 0 : at[0];
    boolean exists = plane >= 0 && (rowDimension == 0 || plane < context.extent(buffer, 0, f));
    return new Tile(
        f,
        at[rowDimension],
        at[rowDimension + 1],
        rows,
        columns,
        exists ? height : 0,
        width,
        pitch,
        plane * distance);
  }

  /** Which elements a copy moves. */
  final class Tile implements TmaCalls.Source {
    private final Frame f;
    private final long row;
    private final long column;
    private final int rows;
    private final int columns;
    private final long height;
    private final long width;
    private final long pitch;
    private final long before;

    private Tile(
        Frame f,
        long row,
        long column,
        int rows,
        int columns,
        long height,
        long width,
        long pitch,
        long before) {
      this.f = f;
      this.row = row;
      this.column = column;
      this.rows = rows;
      this.columns = columns;
      this.height = height;
      this.width = width;
      this.pitch = pitch;
      this.before = before;
    }

    /** The matrix's part of a row: where it begins and how long it is. */
    private interface Part {
      void of(int tileRow, int from, int count);
    }

    private void inside(Part part) {
      long left = Math.max(column, 0);
      int count = (int) Math.max(0, Math.min(column + columns, width) - left);
      for (int r = 0; r < rows && count > 0; r++) {
        if (row + r >= 0 && row + r < height) {
          part.of(r, (int) (before + (row + r) * pitch + left), count);
        }
      }
    }

    @Override
    public void beginRead(Actor actor, long epoch) {
      Shadow shadow = f.shadows[access.slot()];
      if (shadow != null) {
        inside(
            (r, from, count) -> shadow.unitReads(f, actor, epoch, from, count, where, f.warpLane));
      }
    }

    void beginWrite(Actor actor, long epoch) {
      if (row < 0 || column < 0) {
        throw context.fault(
            Finding.Kind.OUT_OF_BOUNDS,
            where,
            f,
            Source.element(buffer, new long[] {row, column}),
            "a bulk store must not begin before the matrix");
      }
      long rowBytes = width * buffer.dtype().bytes();
      if (column + columns > width && rowBytes % PITCH_ALIGNMENT != 0) {
        throw context.fault(
            Finding.Kind.OUT_OF_BOUNDS,
            where,
            f,
            Source.element(buffer, new long[] {row, width}),
            "bulk stores write whole 16 bytes, rows hold " + rowBytes);
      }
      Shadow shadow = f.shadows[access.slot()];
      if (shadow != null) {
        inside((r, from, count) -> shadow.unitWrites(f, actor, epoch, from, count, where));
      }
    }

    /**
     * Counts what a copy moves.
     *
     * @param receivers blocks that get what is read
     */
    void count(boolean reads, int receivers) {
      if (f.requests != null) {
        int bytes = buffer.dtype().bytes();
        int slot = access.slot();
        long storage = f.memory[slot].length;
        Counting counting = f.requests.counting();
        inside(
            (r, from, count) ->
                counting.bulk(
                    slot, storage, (long) from * bytes, (long) count * bytes, reads, receivers));
      }
    }

    /** The tile's bytes row by row, zero outside the matrix. */
    @Override
    public byte[] load() {
      int bytes = buffer.dtype().bytes();
      byte[] tile = new byte[rows * columns * bytes];
      int skipped = (int) (Math.max(column, 0) - column);
      inside(
          (r, from, count) ->
              System.arraycopy(
                  f.memory[access.slot()],
                  from * bytes,
                  tile,
                  (r * columns + skipped) * bytes,
                  count * bytes));
      return tile;
    }

    /** Writes what lies inside the matrix. */
    void store(byte[] tile) {
      int bytes = buffer.dtype().bytes();
      inside(
          (r, from, count) ->
              System.arraycopy(
                  tile, r * columns * bytes, f.memory[access.slot()], from * bytes, count * bytes));
    }
  }
}
