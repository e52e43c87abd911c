package dev.warpwright.sim;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Kernels from text, and from the files of the repository. */
final class KernelTexts {
  private KernelTexts() {}

  static Kernel parse(String text) {
    return new IrParser(Intrinsics::find).kernel("test", text);
  }

  /** The text of a file in {@code kernels}. */
  static String file(String name) {
    try {
      return Files.readString(Path.of("..", "kernels", name + ".kernel"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The text with one place replaced, which must be there. */
  static String replaced(String text, String what, String by) {
    if (!text.contains(what)) {
      throw new IllegalArgumentException("'" + what + "' is not in the text");
    }
    return text.replace(what, by);
  }

  /** C = A · Bᵀ in f64. */
  static NdArray product(NdArray a, NdArray b) {
    int m = (int) a.shape()[0];
    int k = (int) a.shape()[1];
    int n = (int) b.shape()[0];
    double[] x = a.toDoubles();
    double[] y = b.toDoubles();
    double[] c = new double[m * n];
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int l = 0; l < k; l++) {
          sum += x[i * k + l] * y[j * k + l];
        }
        c[i * n + j] = sum;
      }
    }
    return NdArray.ofDoubles(DType.F64, c, m, n);
  }
}
