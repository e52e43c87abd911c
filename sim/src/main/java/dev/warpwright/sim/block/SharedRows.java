package dev.warpwright.sim.block;

import dev.warpwright.ir.Layout.Swizzle;
import dev.warpwright.sim.memory.Bytes;

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
public record SharedRows(
    int slot, int elementBytes, long first, long pitch, long panel, long width, Swizzle swizzle) {
  /** Bytes that stay together. */
  public static final int CHUNK_BYTES = 16;

  /** Elements that stay together. */
  public int chunk() {
    return CHUNK_BYTES / elementBytes;
  }

  /** Offset of an element of the tile. */
  public int offset(int row, int column) {
    return (int) swizzle.apply(first + column / width * panel + row * pitch + column % width);
  }

  /** The bits of a tile's elements, column by column. */
  int[] bitsByColumn(BlockRun block, int rows, int columns) {
    int[] byRow = bits(block, rows, columns);
    int[] bits = new int[byRow.length];
    for (int r = 0; r < rows; r++) {
      for (int c = 0; c < columns; c++) {
        bits[c * rows + r] = byRow[r * columns + c];
      }
    }
    return bits;
  }

  /** The bits of a tile's elements of 8, 16 or 32 bits, row by row. */
  int[] bits(BlockRun block, int rows, int columns) {
    byte[] memory = block.memory[slot];
    int[] bits = new int[rows * columns];
    int chunk = chunk();
    for (int r = 0; r < rows; r++) {
      for (int c = 0; c < columns; c += chunk) {
        int at = offset(r, c) * elementBytes;
        for (int i = 0; i < chunk; i++) {
          bits[r * columns + c + i] = element(memory, at + i * elementBytes);
        }
      }
    }
    return bits;
  }

  private int element(byte[] memory, int at) {
    return switch (elementBytes) {
      case 1 -> memory[at];
      case 2 -> Bytes.getShort(memory, at);
      default -> Bytes.getInt(memory, at);
    };
  }
}
