package dev.warpwright.cli.export;

import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.tuning.GemmArguments;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * GEMMs that nobody has prepared: extents from 1 to {@link #LONGEST}, as many small as large ones,
 * a third of them odd, in every type and layout. Each is small enough to be verified in a moment.
 */
final class RandomShapes {
  private static final long LONGEST = 16_384;

  /** Multiply-adds, and elements of the result. */
  private static final double MOST_WORK = 1L << 37;

  private static final double MOST_ELEMENTS = 1L << 27;

  private static final List<String> TYPES = List.of("bf16", "f16", "tf32", "f32", "e4m3", "int8");
  private static final List<String> LAYOUTS = List.of("nn", "nt", "tn", "tt");

  private RandomShapes() {}

  /** A GEMM, and how it is asked for: {@code M=777 N=3333 K=1111 dtype=bf16 layout=nt}. */
  record Shape(String text, GemmWorkload workload) {
    static Shape of(String text) {
      return new Shape(text, GemmArguments.read(new KeyValues(List.of(text.split(" ")))));
    }
  }

  /** So many different ones; the first of them are the same whatever their number. */
  static List<Shape> of(long seed, int count) {
    SplittableRandom random = new SplittableRandom(seed);
    Set<String> texts = new LinkedHashSet<>();
    while (texts.size() < count) {
      long m = extent(random);
      long n = extent(random);
      long k = extent(random);
      String type = TYPES.get(random.nextInt(TYPES.size()));
      String layout = LAYOUTS.get(random.nextInt(LAYOUTS.size()));
      if ((double) m * n * k <= MOST_WORK && (double) m * n <= MOST_ELEMENTS) {
        texts.add(
            String.format(Locale.ROOT, "M=%d N=%d K=%d dtype=%s layout=%s", m, n, k, type, layout));
      }
    }
    List<Shape> shapes = new ArrayList<>();
    texts.forEach(text -> shapes.add(Shape.of(text)));
    return shapes;
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
