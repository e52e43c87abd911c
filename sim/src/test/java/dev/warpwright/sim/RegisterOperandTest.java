package dev.warpwright.sim;

import static dev.warpwright.sim.Checked.SEED;
import static dev.warpwright.sim.Checked.check;
import static dev.warpwright.sim.Checked.expect;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.sim.api.Finding;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Products whose first operand lies in registers, used rightly and wrongly. */
class RegisterOperandTest {
  private static final int STEPS = 2;
  private static final int COLUMNS = 16;

  /** D (64 × 16) = A · Bᵀ of two steps of K; A as fragments, as they lie in the registers. */
  private static final String PRODUCT =
      """
      kernel product(A: u32[128, 2, 4], B: T[16, 2 * DEPTH], D: f32[128, 8]) grid(bx = 1) block(tid = 128)
          [arch = "sm_90a"] {
        alloc Bs: T[16, ROW] shared layout (16:ROW),(ROW:1)^<3,BASE,3> align 1024
        alloc a: u32[2, 4] local
        alloc d: f32[8] local
        if tid < 16 {
          for k in 2 * DEPTH {
            Bs[tid, k] = B[tid, k]
          }
        }
        fence.proxy.async()
        sync_threads()
        for k in 2 {
          for r in 4 {
            a[k, r] = A[tid, k, r]
          }
        }
        wgmma.fence()
        for k in 2 {
          wgmma.m64n16kDEPTH.f32.NAME.ra(&d[0], &a[k, 0], &Bs[0, k * DEPTH], i32(k > 0))
        }
        wgmma.commit()
        wgmma.wait(0)
        for i in 8 {
          D[tid, i] = d[i]
        }
      }
      """;

  private static String product(DType type, String name) {
    int bytes = type.bytes();
    return PRODUCT
        .replace("2 * DEPTH", String.valueOf(2 * 32 / bytes))
        .replace("DEPTH", String.valueOf(32 / bytes))
        .replace("ROW", String.valueOf(128 / bytes))
        .replace("BASE", String.valueOf(Integer.numberOfTrailingZeros(16 / bytes)))
        .replace("NAME", name)
        .replace("T[", type + "[");
  }

  private static Arguments random(Kernel kernel) {
    return Arguments.random(kernel.params(), SEED, Map.of());
  }

  /** Step of K of the element of a fragment, as PTX lays each width out (see the ISA's figures). */
  private static int depth(int bytes, int quad, int i) {
    return switch (bytes) {
      case 1 -> 4 * quad + (i & 3) + 16 * (i >> 3);
      case 2 -> 2 * quad + (i & 1) + 8 * (i >> 2);
      default -> quad + 4 * (i >> 1);
    };
  }

  private static int row(int bytes, int thread, int i) {
    int half =
        switch (bytes) {
          case 1 -> i >> 2 & 1;
          case 2 -> i >> 1 & 1;
          default -> i & 1;
        };
    return thread / 32 * 16 + thread % 32 / 4 + 8 * half;
  }

  @ParameterizedTest
  @CsvSource({"F16, f16, 1e-6", "BF16, bf16, 1e-6", "F32, tf32, 1e-6", "F8E4M3, e4m3, 2e-3"})
  void multiplies(DType type, String name, double tolerance) {
    Kernel kernel = KernelTexts.parse(product(type, name));
    assertThat(Verifier.verify(kernel)).isEmpty();
    Arguments arguments = random(kernel);
    int bytes = type.bytes();
    int depth = 32 / bytes;
    double[] a = new double[64 * STEPS * depth];
    Random random = new Random(SEED);
    NdArray fragments = arguments.get("A");
    for (int thread = 0; thread < 128; thread++) {
      for (int k = 0; k < STEPS; k++) {
        int[] registers = new int[4];
        for (int i = 0; i < 16 / bytes; i++) {
          long bits = bits(type, random.nextGaussian());
          registers[i * bytes / 4] |= (int) (bits << 8 * (i * bytes % 4));
          a[row(bytes, thread, i) * STEPS * depth + k * depth + depth(bytes, thread % 4, i)] =
              value(type, bits);
        }
        for (int r = 0; r < 4; r++) {
          fragments.setIntegerElement((thread * STEPS + k) * 4L + r, registers[r] & 0xFFFFFFFFL);
        }
      }
    }
    NdArray b = arguments.get("B");
    double[] second = b.toDoubles();
    for (int i = 0; type == DType.F32 && i < second.length; i++) {
      second[i] = value(type, bits(type, second[i]));
    }
    assertThat(check(kernel, arguments)).isEmpty();
    NdArray reference =
        KernelTexts.product(
            NdArray.ofDoubles(DType.F64, a, 64, STEPS * depth),
            NdArray.ofDoubles(DType.F64, second, COLUMNS, STEPS * depth));
    NdArray d = arguments.get("D");
    double[] result = new double[64 * COLUMNS];
    for (int thread = 0; thread < 128; thread++) {
      for (int i = 0; i < 8; i++) {
        int row = thread / 32 * 16 + thread % 32 / 4 + 8 * (i >> 1 & 1);
        int column = 8 * (i >> 2) + 2 * (thread % 4) + (i & 1);
        result[row * COLUMNS + column] = d.get(thread, i);
      }
    }
    Verification v = Verification.compare(result, reference.toDoubles());
    assertThat(v.within(tolerance)).as("%s, seed %d", v, SEED).isTrue();
  }

  private static long bits(DType type, double x) {
    return switch (type) {
      case F16 -> Numerics.f16Bits(x) & 0xFFFF;
      case BF16 -> Numerics.bf16Bits(x) & 0xFFFF;
      case F8E4M3 -> Numerics.e4m3Bits(x) & 0xFF;
      default -> Float.floatToRawIntBits((float) x) & 0xFFFFE000L;
    };
  }

  private static double value(DType type, long bits) {
    return switch (type) {
      case F16 -> Numerics.f16ToFloat((short) bits);
      case BF16 -> Numerics.bf16ToFloat((short) bits);
      case F8E4M3 -> Numerics.e4m3ToFloat((byte) bits);
      default -> Float.intBitsToFloat((int) bits);
    };
  }

  /** What is put in the place of what, and what the simulator says. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "wgmma.commit() | wgmma.commit() a[1, 2] = 0u32"
            + " | RACE | an mma that reads it has not been waited for",
        "wgmma.commit() | wgmma.commit() D[tid, 0] = f32(a[0, 3])"
            + " | RACE | an mma that reads it has not been waited for",
        "wgmma.wait(0) | | RACE | an mma that writes it has not been waited for",
        "wgmma.fence() | | INTRINSIC | no wgmma.fence after the threads' last access to a",
        "wgmma.fence() | wgmma.fence() a[1, 0] = 0u32"
            + " | INTRINSIC | no wgmma.fence after the threads' last access to a",
        "for r in 4 | for r in 3 | UNINITIALISED | ",
        "&a[k, 0] | &a[k, tid % 2] | INTRINSIC | the lanes of the warp do not agree",
        "&a[k, 0] | &a[k, k] | OUT_OF_BOUNDS | a[1, 1]",
      })
  void mistakesAreReported(String what, String by, Finding.Kind kind, String message) {
    String text = KernelTexts.replaced(product(DType.F16, "f16"), what, by == null ? "" : by);
    Kernel kernel = KernelTexts.parse(text);
    expect(check(kernel, random(kernel)), kind, message == null ? "" : message);
  }

  /** Registers in a scope of their own are under way even where that has ended. */
  @Test
  void theEndOfAScopeIsNoWait() {
    String text =
        """
        kernel product(B: f16[16, 64], D: f32[128, 8]) grid(bx = 1) block(tid = 128) [arch = "sm_90a"] {
          alloc Bs: f16[16, 64] shared layout (16:64),(64:1)^<3,3,3> align 1024
          alloc d: f32[8] local
          if tid < 16 {
            for k in 64 {
              Bs[tid, k] = 0.0f16
            }
          }
          fence.proxy.async()
          sync_threads()
          for k in 2 {
            alloc a: u32[4] local
            for r in 4 {
              a[r] = 0u32
            }
            wgmma.fence()
            wgmma.m64n16k16.f32.f16.ra(&d[0], &a[0], &Bs[0, k * 16], i32(k > 0))
            wgmma.commit()
          }
          wgmma.wait(0)
          for i in 8 {
            D[tid, i] = d[i]
          }
        }
        """;
    Kernel kernel = KernelTexts.parse(text);
    expect(
        check(kernel, random(kernel)),
        Finding.Kind.RACE,
        "an mma that reads it has not been waited for");
  }

  /** Two products may read the same registers; they are free when both have been waited for. */
  @ParameterizedTest
  @CsvSource({"0, true", "1, false"})
  void whatTwoProductsReadIsFreeAfterBoth(int pending, boolean clean) {
    String text =
        KernelTexts.replaced(
            product(DType.F16, "f16"),
            "wgmma.commit()\n  wgmma.wait(0)\n",
            String.format(
                Locale.ROOT,
                """
                wgmma.commit()
                wgmma.m64n16k16.f32.f16.ra(&e[0], &a[1, 0], &Bs[0, 0], 0)
                wgmma.commit()
                wgmma.wait(%d)
                a[1, 0] = 0u32
                wgmma.wait(0)
                """,
                pending));
    text = KernelTexts.replaced(text, "alloc d:", "alloc e: f32[8] local\n  alloc d:");
    Kernel kernel = KernelTexts.parse(text);
    if (clean) {
      assertThat(check(kernel, random(kernel))).isEmpty();
    } else {
      expect(
          check(kernel, random(kernel)),
          Finding.Kind.RACE,
          "an mma that reads it has not been waited for");
    }
  }
}
