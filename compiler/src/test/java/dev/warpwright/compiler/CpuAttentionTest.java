package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.families.attention.HostAttention;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.ir.accuracy.ErrorBound;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.jvm.Parallel;
import dev.warpwright.workload.Attention;
import dev.warpwright.workload.AttentionCache;
import dev.warpwright.workload.AttentionReference;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Attention as bytecode against its definition. */
class CpuAttentionTest {
  private static final long SEED = Long.getLong("seed", 31);

  private record Case(Attention attention, int... lengths) {}

  @SuppressWarnings("unused") // By name.
  private static final List<Case> CASES =
      List.of(
          new Case(Attention.of(5, 8, 2, 64, 1, 127, DType.BF16), 1, 3, 17, 127, 0),
          new Case(Attention.of(2, 4, 2, 128, 3, 127, DType.F16).withCausal(true), 127, 2),
          new Case(Attention.of(3, 6, 2, 96, 1, 100, DType.BF16).withPage(16), 1, 50, 99),
          new Case(
              Attention.of(2, 2, 1, 72, 8, 90, DType.F32).withPage(7).withCausal(true), 90, 33),
          new Case(Attention.of(1, 4, 2, 64, 77, 77, DType.F32).withCausal(true), 77),
          new Case(Attention.of(1, 1, 1, 8, 20, 65, DType.F16).withScale(0.5), 65));

  /** Random numbers that the type has; rows that are not used are not numbers. */
  private static double[] random(DType type, int size, double most, SplittableRandom random) {
    double[] values = new double[size];
    Arrays.setAll(values, i -> Numerics.round(type, random.nextDouble(-most, most)));
    return values;
  }

  private static Object array(DType type, double[] values) {
    if (type == DType.F32) {
      float[] floats = new float[values.length];
      for (int i = 0; i < floats.length; i++) {
        floats[i] = (float) values[i];
      }
      return floats;
    }
    short[] bits = new short[values.length];
    for (int i = 0; i < bits.length; i++) {
      float value = (float) values[i];
      bits[i] = type == DType.F16 ? Float.floatToFloat16(value) : Numerics.bf16Bits(value);
    }
    return bits;
  }

  private static double element(DType type, Object array, int i) {
    return switch (array) {
      case float[] floats -> floats[i];
      case short[] bits ->
          type == DType.F16 ? Float.float16ToFloat(bits[i]) : Float.intBitsToFloat(bits[i] << 16);
      default -> throw new IllegalArgumentException(array.toString());
    };
  }

  @ParameterizedTest
  @FieldSource("CASES")
  void computesItsDefinition(Case each) {
    Attention attention = each.attention;
    PrimFunc program = HostAttention.program(attention);
    assertThat(Verifier.verify(program)).as(IrPrinter.text(program)).isEmpty();
    AttentionCache cache = AttentionCache.of(attention, each.lengths, SEED);
    SplittableRandom random = new SplittableRandom(SEED);
    DType type = attention.type();
    int d = attention.headSize();
    double[] q = random(type, attention.heads() * attention.rows() * d, 6, random);
    boolean[] used = cache.used();
    double[] k = random(type, used.length * d, 1, random);
    double[] v = random(type, used.length * d, 1, random);
    for (int i = 0; i < k.length; i++) {
      if (!used[i / d]) {
        k[i] = Double.NaN;
        v[i] = Double.NaN;
      }
    }
    AttentionReference expected = AttentionReference.of(cache, q, k, v);
    double[] poison = new double[q.length];
    Arrays.fill(poison, Double.NaN);
    Object o = array(type, poison);
    CpuAttention.of(attention, Parallel.SERIAL)
        .run(array(type, q), array(type, k), array(type, v), cache.lengths(), cache.table(), o);
    Deviations deviations =
        Deviations.of(
            ErrorBound.of(type),
            i -> element(type, o, i),
            i -> expected.values()[i],
            i -> expected.deviations()[i],
            q.length,
            0,
            false);
    assertThat(deviations.text(d)).as("seed %d", SEED).isEmpty();
  }

  @Test
  void refusesWhatWouldReadElsewhere() {
    Attention attention = Attention.of(1, 1, 1, 8, 1, 8, DType.F32).withPage(4);
    CpuAttention cpu = CpuAttention.of(attention, Parallel.SERIAL);
    float[] row = new float[8];
    float[] cache = new float[64];
    assertThatThrownBy(() -> cpu.run(row, cache, cache, new int[] {9}, new int[] {0, 1}, row))
        .hasMessage("[9]: lengths are 0 to 8");
    assertThatThrownBy(() -> cpu.run(row, cache, cache, new int[] {8}, new int[] {0, 2}, row))
        .hasMessage("page 2 of entry 0: pages are 0 to 1");
    cpu.run(row, cache, cache, new int[] {4}, new int[] {0, -1}, row);
  }
}
