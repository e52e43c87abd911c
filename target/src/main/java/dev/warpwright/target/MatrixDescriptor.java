package dev.warpwright.target;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;

/**
 * The constant part of a wgmma descriptor of a K-major operand in shared memory (PTX ISA, "Matrix
 * descriptor format"); the start address is the rest.
 *
 * @param mode 1, 2, 3 for swizzles over 128, 64, 32 bytes
 * @param stride bytes from one group of 8 rows to the next
 */
public record MatrixDescriptor(int mode, int stride) {
  /**
   * {@return the descriptor that a buffer's layout means}
   *
   * @param buffer in shared memory, rows and columns its last dimensions
   * @throws UserError if no descriptor describes it
   */
  public static MatrixDescriptor of(Buffer buffer) {
    SharedTile tile = SharedTile.of(buffer);
    if (!tile.swizzled()) {
      throw new UserError(
          "shared buffer "
              + buffer.name()
              + " is not swizzled; operands of wgmma need rows of 32, 64 or 128 bytes"
              + " with the swizzle of that width");
    }
    int mode =
        switch (tile.width()) {
          case 128 -> 1;
          case 64 -> 2;
          default -> 3;
        };
    return new MatrixDescriptor(mode, tile.repeat());
  }

  /**
   * Bytes from one panel of columns to the next, for an operand stored with its columns along the
   * product's: panels are the dimension before rows and columns.
   *
   * @param buffer in shared memory
   * @return 0 where there is one panel
   */
  public static int panelBytes(Buffer buffer) {
    int panels = buffer.rank() - 3;
    if (buffer.rank() < 4 || buffer.layout() == null) {
      return 0;
    }
    long stride = buffer.layout().dimensions().get(panels).getFirst().stride();
    return Math.toIntExact(stride * buffer.dtype().bytes());
  }

  /** {@return bytes of a row, over which it is swizzled} */
  public int width() {
    return 256 >> mode;
  }
}
