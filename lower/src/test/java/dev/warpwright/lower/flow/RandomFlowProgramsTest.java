package dev.warpwright.lower.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.tile.PassRefusal;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Random tile programs mean the same behind each pass, and as kernels in the grid simulator. */
class RandomFlowProgramsTest {
  private static final int PROGRAMS = Integer.getInteger("programs", 8);
  private static final long FIRST = Long.getLong("seed", 0);

  @Test
  void sameBehindEachPassAndAsKernels() {
    Map<String, Integer> seen = new TreeMap<>();
    for (long seed = FIRST; seed < FIRST + PROGRAMS; seed++) {
      PrimFunc func = RandomFlowPrograms.of(seed);
      Kernel kernel;
      try {
        kernel = LoweringTest.lowered(func);
      } catch (LoweringException | PassRefusal e) {
        seen.merge("refused: " + e.getMessage(), 1, Integer::sum);
        continue;
      }
      try {
        LoweringTest.assertComputes(func, kernel, "C", Map.of());
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed " + seed + ":\n" + IrPrinter.text(func), e);
      }
      String text = IrPrinter.text(kernel);
      seen.merge("kernels", 1, Integer::sum);
      seen.merge("operands in registers", text.contains(".ra(") ? 1 : 0, Integer::sum);
      seen.merge(
          "variables go round", text.contains("let stage: i32 = next") ? 1 : 0, Integer::sum);
    }
    assertThat(seen.get("kernels")).as("%s", seen).isGreaterThan(PROGRAMS / 2);
    assertThat(seen.get("operands in registers")).as("%s", seen).isGreaterThan(PROGRAMS / 5);
  }
}
