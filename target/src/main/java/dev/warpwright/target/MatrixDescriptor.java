package dev.warpwright.target;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.UserError;

/**
 * The constant part of a wgmma descriptor of a K-major operand in shared memory (PTX ISA, "Matrix
 * descriptor format"); the start address is the rest.
 *
 * @param mode 1, 2, 3 for swizzles over 128, 64, 32 bytes
 * @param stride bytes from one group of 8 rows to the next
 */
public record MatrixDescriptor(int mode, int stride) {
  /**
   * The descriptor that a buffer's layout means.
   *
   * @throws UserError if no descriptor describes it
   */
  public static MatrixDescriptor of(Buffer buffer) {
    SharedTile tile = SharedTile.of(buffer);
    if (!tile.swizzled()) {
      throw new UserError(
          "shared buffer "
              + buffer.name()
              + " is not swizzled; operands of products need rows of 32, 64 or 128 bytes"
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

  /** Bytes of a row, over which it is swizzled. */
  public int width() {
    return 256 >> mode;
  }
}
