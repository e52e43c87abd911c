package dev.warpwright.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/**
 * Warps whose straight parts are bytecode compute, report and count what closures do, bit by bit.
 */
class WarpCodeTest {
  private static final long SEED = Long.getLong("seed", 85);
  private static final int RANDOM_KERNELS = Integer.getInteger("kernels", 96);

  @Test
  void randomKernels() {
    int clean = 0;
    for (int i = 0; i < RANDOM_KERNELS; i++) {
      long seed = SEED * 1000 + i;
      Kernel kernel = i % 2 == 0 ? RandomGridKernels.of(seed) : RandomGridKernels.ofWarps(seed);
      String what = "kernel " + seed + ":\n" + IrPrinter.text(kernel);
      GridOptions options = i % 3 == 0 ? GridOptions.random(seed) : GridOptions.DEFAULT;
      GridInterpreter fast =
          BothEngines.agree(kernel, () -> Arguments.random(kernel.params(), SEED), options, what);
      clean += fast.replays() == 0 ? 1 : 0;
      assertThat(fast.interpreted()).as(what).isEmpty();
      if (fast.replays() == 0) {
        BothEngines.agree(
            kernel, () -> Arguments.random(kernel.params(), SEED), GridOptions.counting(2), what);
      }
    }
    assertThat(clean)
        .as("kernels without findings")
        .isBetween(RANDOM_KERNELS / 8, RANDOM_KERNELS * 7 / 8);
  }

  /** Conversions, bit patterns and integers of all widths, each lane with values of its own. */
  @Test
  void everyOperator() {
    Kernel kernel =
        KernelTexts.parse(
            """
            kernel operators(x: f32[64], n: i32[64], y: f32[32, 16], m: i64[32, 24], h: f16[64]) grid(bx = 1) block(tid = 32) {
              alloc v: f32[4] local align 16
              let a: i32 = n[tid]
              let b: i32 = n[tid + 32] % 17 + 18
              let l: i64 = i64(a) * 1000003i64
              let u: u32 = u32(a)
              let p: f32 = x[tid]
              let q: f32 = x[tid + 32]
              v[ramp(0, 1, 4)] = x[ramp(tid / 4 * 4, 1, 4)]
              m[tid, 0] = i64(a / b)
              m[tid, 1] = i64(a % b)
              m[tid, 2] = i64(min(a, b)) - i64(max(a, b))
              m[tid, 3] = i64(a << 3)
              m[tid, 4] = i64(a >> 2)
              m[tid, 5] = i64(u >> 3)
              m[tid, 6] = i64(a & b) + i64(a | b) + i64(a ^ b)
              m[tid, 7] = l / i64(b) + l % 7i64
              m[tid, 8] = i64(i8(a)) + i64(u8(a))
              m[tid, 9] = i64(i32(p * 1000000.0f32))
              m[tid, 10] = i64(u8(p * 300.0f32))
              m[tid, 11] = i64(i32(p < q)) + i64(i32(p >= q)) + i64(i32(p == p))
              m[tid, 12] = i64(a * a)
              m[tid, 13] = i64(-a)
              m[tid, 14] = i64(abs(a))
              m[tid, 15] = i64(a / 8) + i64(a % 8)
              m[tid, 16] = i64(bitcast(u32, p))
              m[tid, 17] = i64(i32(!(a < b)) + i32(a < b && p < q) + i32(a == b || p != q))
              y[tid, 0] = p + q
              y[tid, 1] = p - q
              y[tid, 2] = p * q
              y[tid, 3] = p / q
              y[tid, 4] = min(p, q) + max(p, q)
              y[tid, 5] = fma(p, q, v[tid % 4])
              y[tid, 6] = exp(p) + log(abs(q) + 1.0f32) + tanh(p) + erf(q)
              y[tid, 7] = sqrt(abs(p)) + floor(q) + ceil(q)
              y[tid, 8] = f32(f16(p)) + f32(bf16(q))
              y[tid, 9] = f32(a) + f32(l) + f32(u)
              y[tid, 10] = select(a < b, p, q)
              y[tid, 11] = bitcast(f32, n[tid] & 16777215)
              y[tid, 12] = -p
              y[tid, 13] = f32(h[tid])
              y[tid, 14] = shfl.xor.f32(p, 5) + shfl.idx.f32(q, tid % 7)
              y[tid, 15] = pow(abs(p), 2.0f32)
              h[tid + 32] = f16(q)
            }
            """);
    assertThat(Verifier.verify(kernel)).isEmpty();
    GridInterpreter fast =
        BothEngines.agree(
            kernel,
            () -> {
              Arguments arguments = Arguments.random(kernel.params(), SEED);
              for (int i = 0; i < 64; i++) {
                arguments.get("n").setIntegerElement(i, (i * 2654435761L << 32 >> 32) - i);
              }
              return arguments;
            },
            GridOptions.DEFAULT,
            "operators");
    assertThat(fast.replays()).isZero();
    assertThat(fast.interpreted()).isEmpty();
  }

  /** Halves of a word, as scalar and in a vector of which all elements are the same. */
  @Test
  void halvesAreAWord() {
    Kernel kernel =
        KernelTexts.parse(
            """
            kernel halves(x: f32[64], y: u32[32], z: u32[64]) grid(bx = 1) block(tid = 32) {
              alloc pair: f16[2] local align 4
              pair[0] = f16(x[tid])
              pair[1] = f16(x[tid + 32])
              let other: f32 = shfl.xor.f32(x[tid], 1)
              y[tid] = bitcast(u32, pair[ramp(0, 1, 2)]) + u32(i32(other * 1000.0f32))
              z[ramp(tid * 2, 1, 2)] = broadcast(bitcast(u32, pair[ramp(0, 1, 2)]), 2)
                  + bitcast(u32x2, x[ramp(tid * 2, 1, 2)])
            }
            """);
    GridInterpreter fast =
        BothEngines.agree(
            kernel,
            () -> Arguments.random(kernel.params(), SEED),
            GridOptions.DEFAULT,
            "two halves");
    assertThat(fast.replays()).isZero();
    assertThat(fast.interpreted()).isEmpty();
  }

  /** Which of two unsigned numbers of 64 bits is less has no bytecode. */
  @Test
  void anExpressionWithoutBytecodeIsAClosure() {
    Kernel kernel =
        KernelTexts.parse(
            """
            kernel less(x: f32[64], y: u64[32]) grid(bx = 1) block(tid = 32) {
              let other: f32 = shfl.xor.f32(x[tid], 1)
              y[tid] = min(u64(i32(x[tid + 32] * 1000.0f32)), u64(i32(other * 1000.0f32)))
            }
            """);
    GridInterpreter fast =
        BothEngines.agree(
            kernel,
            () -> Arguments.random(kernel.params(), SEED),
            GridOptions.DEFAULT,
            "the lesser");
    assertThat(fast.replays()).isZero();
    assertThat(fast.interpreted()).singleElement().asString().startsWith("Binary in y[tid]");
  }

  @Test
  void aKernelOfTooManyPartsIsInterpreted() {
    Kernel kernel =
        KernelTexts.parse(
            String.format(
                Locale.ROOT,
                """
                kernel many(y: f32[32]) grid(bx = 1) block(tid = 32) {
                  alloc s: f32[32] shared
                  s[tid] = 0.0f32
                %s  y[tid] = shfl.xor.f32(s[tid], 1)
                }
                """,
                "  sync_threads()\n  s[31 - tid] = f32(tid)\n".repeat(600)));
    GridInterpreter fast =
        BothEngines.agree(
            kernel,
            () -> Arguments.random(kernel.params(), SEED),
            GridOptions.DEFAULT,
            "many barriers");
    assertThat(fast.interpreted()).containsExactly("many");
  }
}
