package dev.warpwright.bench;

import dev.warpwright.compiler.CpuDevice;
import dev.warpwright.compiler.CpuMatmul;
import java.util.Arrays;
import java.util.List;

/** Square products in f32; both operands are new in every call, so everybody packs in the call. */
final class Matmuls {
  private Matmuls() {}

  static Workload square(CpuDevice device, int threads, int size) {
    float[] a = Products.random(size * size, 1, 31);
    float[] b = Products.random(size * size, 1, 32);
    double[] reference = Products.product(Products.widened(a), b, size, size, size);
    OnnxBaseline onnx =
        new OnnxBaseline(
            OnnxFile.matmul(size, size, size),
            threads,
            List.of(new OnnxBaseline.Matrix(a, size, size), new OnnxBaseline.Matrix(b, size, size)),
            size,
            size);
    return new Workload(
        "gemm",
        "GEMM " + size + "³",
        2L * size * size * size,
        List.of(
            ours(device, a, b, size, reference),
            BlasBaseline.openBlas(size, size, size, a, b, reference),
            BlasBaseline.oneDnn(size, size, size, a, b, reference),
            onnx.implementation(reference)));
  }

  /** Ours alone, on random data. */
  static Implementation ours(CpuDevice device, int size) {
    float[] a = Products.random(size * size, 1, 31);
    float[] b = Products.random(size * size, 1, 32);
    return ours(device, a, b, size, new double[0]);
  }

  private static Implementation ours(
      CpuDevice device, float[] a, float[] b, int size, double[] reference) {
    CpuMatmul matmul = device.matmul(size, size, size);
    float[] c = new float[size * size];
    return new Implementation(
        "Warpwright",
        reference,
        Implementation.F32_TOLERANCE,
        () -> matmul.run(a, b, c),
        () -> c,
        () -> Arrays.fill(c, Float.NaN));
  }
}
