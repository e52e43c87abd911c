package dev.warpwright.sim;

import dev.warpwright.ir.layout.Swizzle;

/**
 * Where the rows of a tile lie in a shared buffer, whose columns are contiguous but for the
 * swizzle.
 *
 * @param slot of the buffer
 * @param elementBytes bytes of an element
 * @param first offset of the tile's first element before the swizzle
 * @param pitch elements from row to row
 * @param panel elements from one panel of columns to the next; 0 where all columns are in one
 * @param width columns of a panel
 */
record SharedRows(
    int slot, int elementBytes, long first, long pitch, long panel, long width, Swizzle swizzle) {
  /** Bytes that stay together. */
  static final int CHUNK_BYTES = 16;

  /** Elements that stay together. */
  int chunk() {
    return CHUNK_BYTES / elementBytes;
  }

  /** Offset of an element of the tile. */
  int offset(int row, int column) {
    return (int) swizzle.apply(first + column / width * panel + row * pitch + column % width);
  }

  /** The bits of a tile of 16-bit elements, column by column. */
  short[] shortsByColumn(BlockRun block, int rows, int columns) {
    short[] byRow = shorts(block, rows, columns);
    short[] bits = new short[byRow.length];
    for (int r = 0; r < rows; r++) {
      for (int c = 0; c < columns; c++) {
        bits[c * rows + r] = byRow[r * columns + c];
      }
    }
    return bits;
  }

  /** The bits of a tile of 16-bit elements, row by row. */
  short[] shorts(BlockRun block, int rows, int columns) {
    byte[] memory = block.memory[slot];
    short[] bits = new short[rows * columns];
    int chunk = chunk();
    for (int r = 0; r < rows; r++) {
      for (int c = 0; c < columns; c += chunk) {
        int at = offset(r, c) * Short.BYTES;
        for (int i = 0; i < chunk; i++) {
          bits[r * columns + c + i] = Bytes.getShort(memory, at + i * Short.BYTES);
        }
      }
    }
    return bits;
  }
}
