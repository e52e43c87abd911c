package dev.warpwright.verify.shapes;

import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * A GEMM that nobody has prepared: extents from 1 to {@link #LONGEST}, as many small as large ones,
 * a third of them odd, in every type and layout. Each is small enough to be verified in a moment.
 *
 * @param text how it is asked for: {@code M=777 N=3333 K=1111 dtype=bf16 layout=nt}
 */
public record RandomGemm(String text, GemmWorkload workload) {
  private static final long LONGEST = 16_384;

  /** Multiply-adds, and elements of the result. */
  private static final double MOST_WORK = 1L << 37;

  private static final double MOST_ELEMENTS = 1L << 27;

  private static final List<Precision> PRECISIONS =
      List.of(
          Precision.BF16,
          Precision.F16,
          Precision.TF32,
          Precision.F32,
          Precision.E4M3,
          Precision.INT8);

  private static final List<Layout> LAYOUTS = List.of(Layout.NN, Layout.NT, Layout.TN, Layout.TT);

  /** So many different ones; the first of them are the same whatever their number. */
  public static List<RandomGemm> of(long seed, int count) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<String, RandomGemm> gemms = new LinkedHashMap<>();
    while (gemms.size() < count) {
      long m = extent(random);
      long n = extent(random);
      long k = extent(random);
      Precision precision = PRECISIONS.get(random.nextInt(PRECISIONS.size()));
      Layout layout = LAYOUTS.get(random.nextInt(LAYOUTS.size()));
      if ((double) m * n * k <= MOST_WORK && (double) m * n <= MOST_ELEMENTS) {
        RandomGemm gemm = of(m, n, k, precision, layout);
        gemms.putIfAbsent(gemm.text, gemm);
      }
    }
    return new ArrayList<>(gemms.values());
  }

  private static RandomGemm of(long m, long n, long k, Precision precision, Layout layout) {
    return new RandomGemm(
        String.format(
            Locale.ROOT,
            "M=%d N=%d K=%d dtype=%s layout=%s",
            m,
            n,
            k,
            precision.name().toLowerCase(Locale.ROOT),
            layout.name().toLowerCase(Locale.ROOT)),
        new GemmWorkload(
            m, n, k, precision, GemmWorkload.resultOf(precision.operand()), layout, Epilogue.NONE));
  }

  /** Equally many of each magnitude; a third is as drawn, the others are multiples of 8 and 64. */
  private static long extent(SplittableRandom random) {
    long drawn = Math.round(Math.exp(random.nextDouble() * Math.log(LONGEST)));
    long granule =
        switch (random.nextInt(3)) {
          case 0 -> 1;
          case 1 -> 8;
          default -> 64;
        };
    return Math.ceilDiv(drawn, granule) * granule;
  }
}
