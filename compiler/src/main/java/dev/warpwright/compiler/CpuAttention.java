package dev.warpwright.compiler;

import dev.warpwright.families.attention.HostAttention;
import dev.warpwright.jvm.HostCompiler;
import dev.warpwright.jvm.HostFunction;
import dev.warpwright.jvm.Parallel;
import dev.warpwright.target.HostTarget;
import dev.warpwright.workload.Attention;
import java.util.Arrays;

/**
 * Attention on this machine's CPU.
 *
 * <pre>{@code
 * try (var device = new CpuDevice()) {
 *   CpuAttention attention = device.attention(Attention.of(2, 8, 2, 64, 1, 128, DType.F32));
 *   attention.run(q, k, v, new int[] {128, 17}, new int[0], o);
 * }
 * }</pre>
 */
public final class CpuAttention {
  private static final long[] NO_SCALARS = {};

  private final Attention attention;
  private final HostFunction function;
  private final Parallel parallel;

  private CpuAttention(Attention attention, HostFunction function, Parallel parallel) {
    this.attention = attention;
    this.function = function;
    this.parallel = parallel;
  }

  /**
   * {@return an attention, compiled}
   *
   * @param parallel runs the heads and tiles of rows
   * @param attention its heads, tokens and keys
   */
  static CpuAttention of(Attention attention, Parallel parallel) {
    return new CpuAttention(
        attention,
        HostCompiler.compile(HostAttention.kernel(attention, HostTarget.current())),
        parallel);
  }

  /**
   * Computes.
   *
   * @param q row-major, as {@link Attention} says: {@code float[]} for f32, {@code short[]} with
   *     the bits of f16 and bf16; so k, v and o
   * @param lengths keys of each entry
   * @param table of pages; empty of a contiguous cache. Behind an entry's keys it may say anything
   * @param o overwritten
   * @param k keys, as {@code q}
   * @param v values, as {@code q}
   * @throws IllegalArgumentException if an array is too short or of another type, a length is not 0
   *     to the attention's keys, or a page is none of the cache
   */
  public void run(Object q, Object k, Object v, int[] lengths, int[] table, Object o) {
    check(lengths, table);
    Object[] arrays =
        attention.isPaged()
            ? new Object[] {q, k, v, lengths, table, o}
            : new Object[] {q, k, v, lengths, o};
    function.run(arrays, NO_SCALARS, parallel);
  }

  private void check(int[] lengths, int[] table) {
    int pages = attention.isPaged() ? attention.pagesEach() : 0;
    if (lengths.length != attention.batch() || table.length != attention.batch() * pages) {
      throw new IllegalArgumentException(
          lengths.length
              + " lengths and a table of "
              + table.length
              + " pages for "
              + attention.text());
    }
    if (Arrays.stream(lengths).anyMatch(n -> n < 0 || n > attention.keys())) {
      throw new IllegalArgumentException(
          Arrays.toString(lengths) + ": lengths are 0 to " + attention.keys());
    }
    int most = attention.batch() * pages;
    for (int i = 0; i < table.length; i++) {
      boolean used = i % pages * attention.page() < lengths[i / pages];
      if (used && (table[i] < 0 || table[i] >= most)) {
        throw new IllegalArgumentException(
            "page " + table[i] + " of entry " + i / pages + ": pages are 0 to " + (most - 1));
      }
    }
  }
}
