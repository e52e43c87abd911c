package dev.warpwright.measure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.NdArray;
import org.junit.jupiter.api.Test;

class OutputComparisonTest {
  @Test
  void differentBitsAreCounted() {
    // 2 x 20001 values of 2 bytes: 20001 words, more than threads.
    Buffer output = Buffer.of("C", DType.BF16, Scope.GLOBAL, 2, 20_001);
    Kernel kernel = OutputComparison.ofBits(output);
    NdArray x = NdArray.random(DType.U32, 1, 20_001);
    NdArray y = x.copy();
    assertThat(count(kernel, x, y)).isZero();
    y.setIntegerElement(0, 99);
    y.setIntegerElement(16_384, 98);
    y.setIntegerElement(20_000, 97);
    assertThat(count(kernel, x, y)).isEqualTo(3);
  }

  @Test
  void oddSizesAreComparedByBytes() {
    Kernel kernel = OutputComparison.ofBits(Buffer.of("C", DType.F16, Scope.GLOBAL, 3, 5));
    NdArray x = NdArray.random(DType.U8, 1, 30);
    NdArray y = x.copy();
    y.setIntegerElement(29, 77);
    assertThat(count(kernel, x, y)).isEqualTo(1);
  }

  @Test
  void valuesMayDifferByATolerance() {
    Kernel kernel =
        OutputComparison.ofValues(Buffer.of("C", DType.F32, Scope.GLOBAL, 4, 10), 0.01, 2);
    NdArray x = NdArray.random(DType.F32, 1, 40);
    NdArray y = x.copy();
    y.setElement(3, y.element(3) + 0.0199);
    assertThat(count(kernel, x, y)).isZero();
    y.setElement(4, y.element(4) + 0.04);
    x.setElement(5, Double.NaN);
    assertThat(count(kernel, x, y)).isEqualTo(2);
  }

  private static long count(Kernel kernel, NdArray x, NdArray y) {
    NdArray bad = NdArray.zeros(DType.U32, OutputComparison.THREADS);
    GridInterpreter interpreter = new GridInterpreter(kernel, GridOptions.DEFAULT);
    interpreter.run(Arguments.inOrder(kernel.params(), x, y, bad));
    long sum = 0;
    for (int i = 0; i < bad.size(); i++) {
      sum += bad.integerElement(i);
    }
    return sum;
  }
}
