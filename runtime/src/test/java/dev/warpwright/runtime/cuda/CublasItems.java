package dev.warpwright.runtime.cuda;

import dev.warpwright.runtime.cublas.Cublas;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Products by cuBLAS against sums in double precision. */
final class CublasItems extends SelfTestItems {
  CublasItems(SelfTestBench bench) {
    super(bench);
  }

  @Override
  Map<String, Item> items() {
    Map<String, Item> items = new LinkedHashMap<>();
    items.put("cuBLAS", this::cublas);
    return items;
  }

  private String cublas() {
    Optional<Cublas> found = Cublas.open(stream);
    if (found.isEmpty()) {
      return "SKIP not installed";
    }
    int m = 33;
    int n = 48;
    int k = 40;
    try (Cublas cublas = found.get();
        CudaBuffer a = context.allocate(4L * m * k);
        CudaBuffer b = context.allocate(4L * n * k);
        CudaBuffer d = context.allocate(4L * m * n);
        CudaBuffer workspace = context.allocate(32 << 20)) {
      cublas.setWorkspace(workspace);
      float[] fa = randomFloats(m * k);
      float[] fb = randomFloats(n * k);
      for (boolean transposed : new boolean[] {true, false}) {
        a.copyFrom(fa, stream);
        b.copyFrom(fb, stream);
        d.poison((byte) 0xff, stream);
        Cublas.Type f32 = Cublas.Type.F32;
        cublas.gemm(
            new Cublas.Gemm(m, n, k, f32, f32, Cublas.Compute.F32_PEDANTIC, false, transposed),
            a,
            b,
            d);
        product(fa, fb, d, m, n, k, transposed, 1e-6);
        a.copyFrom(MemorySegment.ofArray(bf16(fa)), stream);
        b.copyFrom(MemorySegment.ofArray(bf16(fb)), stream);
        d.poison((byte) 0xff, stream);
        cublas.gemm(
            new Cublas.Gemm(m, n, k, Cublas.Type.BF16, f32, Cublas.Compute.F32, false, transposed),
            a,
            b,
            d);
        product(rounded(fa), rounded(fb), d, m, n, k, transposed, 1e-5);
      }
      return cublas.path() + " version " + cublas.version();
    }
  }

  private void product(
      float[] a, float[] b, CudaBuffer d, int m, int n, int k, boolean transposed, double rtol) {
    float[] result = d.toFloats(stream);
    double error = 0;
    double norm = 0;
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int l = 0; l < k; l++) {
          sum += (double) a[i * k + l] * (transposed ? b[j * k + l] : b[l * n + j]);
        }
        error += Math.pow(sum - result[i * n + j], 2);
        norm += sum * sum;
      }
    }
    double relative = Math.sqrt(error / norm);
    check(relative <= rtol, "relative error " + relative + ", transposed " + transposed);
  }

  private static short[] bf16(float[] values) {
    short[] bits = new short[values.length];
    for (int i = 0; i < bits.length; i++) {
      bits[i] = (short) (Float.floatToRawIntBits(values[i]) >>> 16);
    }
    return bits;
  }

  private static float[] rounded(float[] values) {
    float[] rounded = new float[values.length];
    for (int i = 0; i < rounded.length; i++) {
      rounded[i] = Float.intBitsToFloat(Float.floatToRawIntBits(values[i]) & 0xffff0000);
    }
    return rounded;
  }
}
