package dev.warpwright.measure.cublas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaDriver;
import dev.warpwright.runtime.cuda.CudaStream;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** cuBLAS against sums in double precision, where there is a GPU and it is installed. */
final class CublasTest {
  private static final int M = 33;
  private static final int N = 48;
  private static final int K = 40;

  private final long seed = Long.getLong("seed", System.nanoTime());
  private final Random random = new Random(seed);

  @Test
  void gemmsAreWhatTheyAreCalled() {
    assumeTrue(CudaDriver.find().isPresent(), CudaDriver.whyMissing());
    CudaContext context = CudaDriver.require().device(0).open();
    try (CudaStream stream = context.newStream()) {
      Optional<Cublas> found = Cublas.open(stream);
      assumeTrue(found.isPresent(), "cuBLAS is not installed");
      try (Cublas cublas = found.get();
          CudaBuffer a = context.allocate(4L * M * K);
          CudaBuffer b = context.allocate(4L * N * K);
          CudaBuffer d = context.allocate(4L * M * N);
          CudaBuffer workspace = context.allocate(32 << 20)) {
        cublas.setWorkspace(workspace);
        float[] fa = randomFloats(M * K);
        float[] fb = randomFloats(N * K);
        for (boolean transposed : new boolean[] {true, false}) {
          Cublas.Type f32 = Cublas.Type.F32;
          a.copyFrom(fa, stream);
          b.copyFrom(fb, stream);
          d.poison((byte) 0xff, stream);
          cublas.gemm(
              new Cublas.Gemm(M, N, K, f32, f32, Cublas.Compute.F32_PEDANTIC, false, transposed),
              a,
              b,
              d);
          assertThat(error(fa, fb, d.toFloats(stream), transposed))
              .as("f32, seed %d", seed)
              .isLessThan(1e-6);
          a.copyFrom(MemorySegment.ofArray(bf16(fa)), stream);
          b.copyFrom(MemorySegment.ofArray(bf16(fb)), stream);
          d.poison((byte) 0xff, stream);
          cublas.gemm(
              new Cublas.Gemm(
                  M, N, K, Cublas.Type.BF16, f32, Cublas.Compute.F32, false, transposed),
              a,
              b,
              d);
          assertThat(error(rounded(fa), rounded(fb), d.toFloats(stream), transposed))
              .as("bf16, seed %d", seed)
              .isLessThan(1e-5);
        }
      }
    } finally {
      context.close();
    }
  }

  private float[] randomFloats(int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }

  private static double error(float[] a, float[] b, float[] result, boolean transposed) {
    double error = 0;
    double norm = 0;
    for (int i = 0; i < M; i++) {
      for (int j = 0; j < N; j++) {
        double sum = 0;
        for (int l = 0; l < K; l++) {
          sum += (double) a[i * K + l] * (transposed ? b[j * K + l] : b[l * N + j]);
        }
        error += Math.pow(sum - result[i * N + j], 2);
        norm += sum * sum;
      }
    }
    return Math.sqrt(error / norm);
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
    short[] bits = bf16(values);
    for (int i = 0; i < rounded.length; i++) {
      rounded[i] = Float.intBitsToFloat(bits[i] << 16);
    }
    return rounded;
  }
}
