package dev.warpwright.lower.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where the elements of operands lie in shared memory. */
class OperandRingTest {
  private static final int STAGES = 2;
  private static final int ROWS = 64;
  private static final int BANKS = 32;

  /**
   * A fragment's lanes read 4 rows along K, as many apart as a register holds elements, of 8
   * neighbouring columns; as many requests as lanes of a bank want different words.
   */
  @ParameterizedTest
  @CsvSource({"F32,32,1", "F32,64,1", "F32,96,1", "I8,128,1", "I8,64,1", "I8,192,1", "I8,32,2"})
  void gatheredElementsLieInDifferentBanks(DType dtype, int columns, int wavefronts) {
    OperandRing ring = gathered(dtype, columns);
    int each = 4 / dtype.bytes();
    for (int k = 0; k < ROWS; k += 4 * each) {
      for (int n = 0; n < columns; n += 8) {
        for (int e = 0; e < each; e++) {
          Map<Long, Set<Long>> words = new HashMap<>();
          for (int lane = 0; lane < 32; lane++) {
            long word = offset(ring, 1, k + lane % 4 * each + e, n + lane / 4) * dtype.bytes() / 4;
            words.computeIfAbsent(word % BANKS, bank -> new HashSet<>()).add(word);
          }
          assertThat(words.values().stream().mapToInt(Set::size).max().orElseThrow())
              .as("row %d, column %d", k + e, n)
              .isEqualTo(wavefronts);
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"F32,32", "F32,96", "I8,128", "I8,64", "I8,32"})
  void gatheredElementsHaveAPlaceEach(DType dtype, int columns) {
    OperandRing ring = gathered(dtype, columns);
    Set<Long> places = new HashSet<>();
    for (int stage = 0; stage < STAGES; stage++) {
      for (int row = 0; row < ROWS; row++) {
        for (int column = 0; column < columns; column++) {
          places.add(offset(ring, stage, row, column));
        }
      }
    }
    assertThat(places).hasSize(STAGES * ROWS * columns).allMatch(p -> p >= 0);
    assertThat(places.stream().mapToLong(p -> p).max().orElseThrow())
        .isLessThan((long) STAGES * ROWS * columns);
  }

  private static OperandRing gathered(DType dtype, int columns) {
    OperandRing ring = OperandRing.of(Buffer.of("B", dtype, Scope.SHARED, ROWS, columns), STAGES);
    return ring.withSwizzle(OperandRing.gathering(ring.width(), dtype.bytes()));
  }

  private static long offset(OperandRing ring, long stage, long row, long column) {
    Layout layout = Objects.requireNonNull(ring.ring().layout());
    return ring.panels() == 1
        ? layout.offset(stage, row, column)
        : layout.offset(stage, column / ring.width(), row, column % ring.width());
  }
}
