package dev.warpwright.target;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Swizzle;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Where the hardware reads the elements of an operand, by the descriptor, is where the layout puts
 * them.
 */
class MatrixDescriptorTest {
  private static final int STEP = 16;

  /** The XOR that a mode applies to the bits of an absolute address in shared memory. */
  private static long swizzled(int mode, long address) {
    int mask =
        switch (mode) {
          case 1 -> 0x70;
          case 2 -> 0x30;
          case 3 -> 0x10;
          default -> throw new AssertionError("mode " + mode);
        };
    return address ^ (address >> 3 & mask);
  }

  @ParameterizedTest
  @CsvSource({"64, 3", "32, 2", "16, 1"})
  void readsEveryElementWhereTheLayoutPutsIt(int columns, int bits) {
    int tiles = 3;
    int rows = 256;
    Layout layout =
        new Layout(Layout.rowMajor(tiles, rows, columns).dimensions(), new Swizzle(bits, 3, 3));
    Buffer buffer =
        new Buffer(
            "As",
            DType.BF16,
            List.of(Exprs.i32(tiles), Exprs.i32(rows), Exprs.i32(columns)),
            Scope.SHARED,
            layout,
            1024);
    MatrixDescriptor descriptor = MatrixDescriptor.of(buffer);
    assertThat(descriptor.width()).isEqualTo(2 * columns);
    long moved = 0;
    long base = 5 * 1024;
    for (int tile = 0; tile < tiles; tile++) {
      for (int first = 0; first < rows; first += 8) {
        for (int step = 0; step < columns; step += STEP) {
          long start = base + 2 * layout.offset(tile, first, step);
          for (int x = 0; x < rows - first; x++) {
            for (int k = 0; k < STEP; k++) {
              long linear =
                  start + x % 8 * descriptor.width() + x / 8 * descriptor.stride() + 2L * k;
              long read = swizzled(descriptor.mode(), linear);
              long stored = base + 2 * layout.offset(tile, first + x, step + k);
              moved += read == linear ? 0 : 1;
              if (read != stored) {
                assertThat(read)
                    .as("tile %d, row %d + %d, k %d + %d", tile, first, x, step, k)
                    .isEqualTo(stored);
              }
            }
          }
        }
      }
    }
    assertThat(moved).as("elements that the swizzle moves").isPositive();
  }
}
