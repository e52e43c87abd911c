package dev.warpwright.verify.shapes;

import dev.warpwright.ir.type.DType;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.StringJoiner;

/**
 * A GEMM that nobody has prepared: extents from 1 to {@link #LONGEST}, as many small as large ones,
 * a third of them odd, in every type and layout, half of them with any epilogue. Each is small
 * enough to be verified in a moment.
 *
 * @param text how it is asked for: {@code M=777 N=3333 K=1111 dtype=bf16 layout=nt act=gelu}
 */
public record RandomGemm(String text, GemmWorkload workload) {
  private static final long LONGEST = 16_384;

  /** Multiply-adds, and elements of the result. */
  private static final double MOST_WORK = 1L << 37;

  private static final double MOST_ELEMENTS = 1L << 27;

  /** One of so many epilogues has a matrix or scales. */
  private static final int SELDOM = 4;

  private static final double FACTOR = 0.5;

  private static final List<Precision> PRECISIONS =
      List.of(
          Precision.BF16,
          Precision.F16,
          Precision.TF32,
          Precision.F32,
          Precision.E4M3,
          Precision.INT8);

  private static final Set<Activation> PERIODIC = EnumSet.of(Activation.SIN, Activation.COS);

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
      Epilogue epilogue = random.nextBoolean() ? epilogue(random, precision) : Epilogue.NONE;
      if ((double) m * n * k <= MOST_WORK && (double) m * n <= MOST_ELEMENTS) {
        RandomGemm gemm = of(m, n, k, precision, layout, epilogue);
        gemms.putIfAbsent(gemm.text, gemm);
      }
    }
    return new ArrayList<>(gemms.values());
  }

  private static RandomGemm of(
      long m, long n, long k, Precision precision, Layout layout, Epilogue epilogue) {
    DType usual = GemmWorkload.resultOf(precision.operand());
    // Integers have no epilogue.
    DType result = usual.isFloat() || epilogue.equals(Epilogue.NONE) ? usual : DType.F32;
    return new RandomGemm(
        String.format(
            Locale.ROOT,
            "M=%d N=%d K=%d dtype=%s layout=%s%s%s",
            m,
            n,
            k,
            precision.name().toLowerCase(Locale.ROOT),
            layout.name().toLowerCase(Locale.ROOT),
            result == usual ? "" : " out=" + result.text(),
            text(epilogue)),
        new GemmWorkload(m, n, k, precision, result, layout, epilogue));
  }

  /**
   * Any activation, and each of what may stand beside it as often as not, or less. Sines of large
   * angles are as far off as the angles are, which is more than what counts as right unless that is
   * rounded to 16 bits.
   */
  private static Epilogue epilogue(SplittableRandom random, Precision precision) {
    List<Activation> activations =
        Arrays.stream(Activation.values())
            .filter(
                a ->
                    GemmWorkload.resultOf(precision.operand()).bytes() == 2
                        || !PERIODIC.contains(a))
            .toList();
    return new Epilogue(
        random.nextBoolean() ? 1 : FACTOR,
        random.nextInt(SELDOM) == 0 ? FACTOR : 0,
        random.nextBoolean(),
        activations.get(random.nextInt(activations.size())),
        random.nextInt(SELDOM) == 0,
        random.nextInt(SELDOM) == 0,
        random.nextInt(SELDOM) == 0,
        random.nextInt(SELDOM) == 0);
  }

  private static String text(Epilogue e) {
    StringJoiner text = new StringJoiner(" ", " ", "").setEmptyValue("");
    if (e.alpha() != 1) {
      text.add("alpha=" + e.alpha());
    }
    if (e.beta() != 0) {
      text.add("beta=" + e.beta());
    }
    if (e.rowScale() || e.columnScale()) {
      text.add("scale=" + (!e.rowScale() ? "column" : e.columnScale() ? "both" : "row"));
    }
    if (e.bias()) {
      text.add("bias=1");
    }
    if (e.activation() != Activation.NONE) {
      text.add("act=" + e.activation().text());
    }
    if (e.gate()) {
      text.add("gate=1");
    }
    if (e.residual()) {
      text.add("residual=1");
    }
    return text.toString();
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
