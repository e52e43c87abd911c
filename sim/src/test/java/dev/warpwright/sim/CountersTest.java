package dev.warpwright.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.sim.api.KernelCounters;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests, bank conflicts, sectors and caches, on kernels whose counters are known. */
class CountersTest {
  private static final KernelCounters.Caches CACHES =
      new KernelCounters.Caches(64 << 10, 1 << 20, 4);

  private static KernelCounters count(String text, Map<String, Integer> scalars) {
    Kernel kernel = KernelTexts.parse(text);
    return new GridInterpreter(kernel, GridOptions.counting(4))
        .count(Arguments.random(kernel.params(), 5, scalars), CACHES);
  }

  /**
   * A column of a matrix in shared memory: the rows' length decides how many lanes meet in a bank.
   */
  @ParameterizedTest
  @CsvSource({"32, 32", "33, 1", "34, 2", "40, 8", "36, 4"})
  void banks(int length, int wavefronts) {
    KernelCounters c =
        count(
            String.format(
                Locale.ROOT,
                """
                kernel k(y: f32[32]) grid(b = 1) block(t = 32) {
                  alloc s: f32[32, %d] shared
                  s[t, 0] = 1.0f32
                  sync_threads()
                  y[t] = s[t, 0]
                }
                """,
                length),
            Map.of());
    assertThat(c.sharedLoads()).isEqualTo(new KernelCounters.Requests(1, wavefronts, 1));
    assertThat(c.sharedStores().lost()).isEqualTo(wavefronts - 1);
  }

  /** Rows of 16 bytes, 8 lanes at a time; two groups go together if neighbours read the same. */
  @ParameterizedTest
  @CsvSource({"t % 16 * 4, 4", "t / 16 * 4, 2", "t * 4, 4", "t / 2 * 4, 2"})
  void vectors(String index, int wavefronts) {
    KernelCounters c =
        count(
            String.format(
                Locale.ROOT,
                """
                kernel k(y: f32[128]) grid(b = 1) block(t = 32) {
                  alloc s: f32[128] shared align 16
                  s[ramp(t * 4, 1, 4)] = broadcast(1.0f32, 4)
                  sync_threads()
                  y[ramp(t * 4, 1, 4)] = s[ramp(%s, 1, 4)]
                }
                """,
                index),
            Map.of());
    assertThat(c.sharedLoads().units()).isEqualTo(wavefronts);
  }

  @ParameterizedTest
  @CsvSource({"t, 4", "t * 2, 8", "t * 8, 32", "0, 1", "t / 8 * 8, 4"})
  void sectors(String index, int sectors) {
    KernelCounters c =
        count(
            String.format(
                Locale.ROOT,
                """
                kernel k(x: f32[256], y: f32[32]) grid(b = 1) block(t = 32) {
                  y[t] = x[%s]
                }
                """,
                index),
            Map.of());
    assertThat(c.globalLoads().count()).isOne();
    assertThat(c.globalLoads().units()).isEqualTo(sectors);
    assertThat(c.l2ReadSectors()).isEqualTo(sectors);
    assertThat(c.dramReadBytes()).isEqualTo(32L * sectors);
    assertThat(c.globalStores()).isEqualTo(new KernelCounters.Requests(1, 4, 4));
  }

  /** What was loaded a moment ago, and not stored to since, is in a register. */
  @Test
  void loadedOnce() {
    KernelCounters c =
        count(
            """
            kernel k(y: f32[32]) grid(b = 1) block(t = 32) {
              alloc s: f32[64] shared
              alloc sum: f32[1] local
              s[t] = 1.0f32
              s[t + 32] = 2.0f32
              sync_threads()
              sum[0] = 0.0f32
              for i in 4 {
                sum[0] = sum[0] + s[t] * s[t]
              }
              s[t] = 3.0f32
              y[t] = sum[0] + s[t]
            }
            """,
            Map.of());
    assertThat(c.sharedLoads()).isEqualTo(new KernelCounters.Requests(2, 2, 2));
  }

  /**
   * As many iterations stand side by side as LLVM unrolls, measured for such loops: then their
   * loads become one.
   */
  @ParameterizedTest
  @CsvSource({
    "4, 8, 64",
    "8, 8, 64",
    "16, 4, 64",
    "32, 4, 64",
    "64, 2, 64",
    "100, 1, 64",
    "2, 16, 16"
  })
  void unrolled(int products, int together, int trips) {
    KernelCounters c =
        count(
            String.format(
                Locale.ROOT,
                """
                kernel k(y: f32[32]) grid(b = 1) block(t = 32) {
                  alloc s: f32[%d] shared align 16
                  alloc sum: f32[%d] local
                  for i in %d {
                    s[i] = 1.0f32
                  }
                  sync_threads()
                  unroll p in %d {
                    sum[p] = 0.0f32
                  }
                  for k in %d {
                    alloc a: f32[1] local
                    a[0] = s[k]
                    unroll p in %d {
                      sum[p] = fma(a[0], 2.0f32, sum[p])
                    }
                  }
                  y[t] = sum[0]
                }
                """,
                trips,
                products,
                trips,
                products,
                trips,
                products),
            Map.of());
    assertThat(c.sharedLoads().count()).isEqualTo(trips / Math.min(together, 4));
  }

  /** Unless the text says how many: 100 products are too many for LLVM to have two side by side. */
  @ParameterizedTest
  @CsvSource({"1, 64", "2, 32", "4, 16", "64, 16"})
  void unrolledAsTheTextSays(int together, int loads) {
    KernelCounters c =
        count(
            String.format(
                Locale.ROOT,
                """
                kernel k(y: f32[32]) grid(b = 1) block(t = 32) {
                  alloc s: f32[64] shared align 16
                  alloc sum: f32[100] local
                  s[t] = 1.0f32
                  s[t + 32] = 1.0f32
                  sync_threads()
                  unroll p in 100 {
                    sum[p] = 0.0f32
                  }
                  for k in 64 [`unroll` = %d] {
                    alloc a: f32[1] local
                    a[0] = s[k]
                    unroll p in 100 {
                      sum[p] = fma(a[0], 2.0f32, sum[p])
                    }
                  }
                  y[t] = sum[0]
                }
                """,
                together),
            Map.of());
    assertThat(c.sharedLoads().count()).isEqualTo(loads);
  }

  /** Copies of 16 bytes pass the first level by, smaller ones do not; both write shared memory. */
  @ParameterizedTest
  @CsvSource({"16, 4, 32, 4", "4, 1, 4, 1"})
  void asynchronousCopies(int bytes, int elements, int sectors, int wavefronts) {
    KernelCounters c =
        count(
            String.format(
                Locale.ROOT,
                """
                kernel k(x: f32[128], y: f32[32]) grid(b = 1) block(t = 32) {
                  alloc s: f32[256] shared align 16
                  unroll i in 2 {
                    cp.async.%d(&s[i * 128 + t * %d], &x[t * %d], %d)
                  }
                  cp.async.commit()
                  cp.async.wait(0)
                  sync_threads()
                  y[t] = s[t]
                }
                """,
                bytes,
                elements,
                elements,
                bytes),
            Map.of());
    assertThat(c.asyncLoads().count()).isEqualTo(2);
    assertThat(c.asyncStores().units()).isEqualTo(2L * wavefronts);
    assertThat(c.l2ReadSectors()).isEqualTo(sectors);
  }

  /** A buffer that begins within a line: lanes are written, and fetch their sectors, one by one. */
  @Test
  void copiesIntoPartsOfLines() {
    KernelCounters c =
        count(
            """
            kernel k(x: f32[128], y: f32[32]) grid(b = 1) block(t = 32) {
              alloc first: f32[4] shared align 16
              alloc s: f32[128] shared align 16
              cp.async.16(&s[t * 4], &x[t * 4], 16)
              first[t % 4] = 1.0f32
              cp.async.commit()
              cp.async.wait(0)
              sync_threads()
              y[t] = s[t] + first[0]
            }
            """,
            Map.of());
    assertThat(c.asyncStores().units()).isEqualTo(32);
    assertThat(c.l2ReadSectors()).isEqualTo(32);
    assertThat(c.dramReadBytes()).isEqualTo(512);
  }

  /** What a second block on another SM reads comes from the second level. */
  @Test
  void caches() {
    KernelCounters c =
        count(
            """
            kernel k(x: f32[32], y: f32[64]) grid(b = 2) block(t = 32) {
              for i in 3 {
                y[b * 32 + t] = x[t]
                sync_threads()
              }
            }
            """,
            Map.of());
    assertThat(c.globalLoads()).isEqualTo(new KernelCounters.Requests(6, 24, 24));
    assertThat(c.l2ReadSectors()).isEqualTo(8);
    assertThat(c.dramReadBytes()).isEqualTo(128);
  }

  /** The counters of a product, by its loops. */
  @Test
  void aProduct() {
    Kernel kernel = KernelTexts.parse(KernelTexts.file("gemm_f32_simt"));
    KernelCounters c =
        new GridInterpreter(kernel, GridOptions.counting(4))
            .count(
                Arguments.random(kernel.params(), 5, Map.of("M", 128, "N", 128, "K", 32)), CACHES);
    assertThat(c.multiplyAdds()).isEqualTo(128L * 128 * 32);
    // As measured on an H200: of the four vectors that a thread reads for each k, two meet nobody.
    assertThat(c.sharedLoads().units()).isEqualTo(8L * 32 * 12);
    assertThat(c.globalLoads().units()).isEqualTo(2L * 128 * 32 * 4 / 32);
    assertThat(c.globalStores().units()).isEqualTo(128L * 128 * 4 / 32 * 4);
  }
}
