package dev.warpwright.networks.registers;

import dev.warpwright.ir.Buffer;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.target.GpuTarget;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * How weights come to shared memory, where products of warpgroups read them: those that stay come
 * once, the others flow through stages, slice by slice along K.
 *
 * @param resident weights that stay
 * @param depth columns of a slice of the others
 * @param slices of a stage
 * @param stages that there is space for
 * @param whole whether a stage has as much of K as there may be, and not a few slices
 * @param streamed how many do not stay, if those are the largest ones and no others; else 0
 */
public record StagedWeights(
    Set<Buffer> resident, long depth, int slices, int stages, boolean whole, int streamed) {
  /** Of shared memory: barriers, and what alignment may cost. */
  private static final long SLACK = 2048;

  private static final int MOST_STAGES = 8;

  /** Stages of a few slices. */
  private static final int MOST_SHORT_STAGES = 16;

  /** Columns of K in a few slices, at most. */
  private static final long SHORT = 96;

  private static final long DEPTH = 64;

  /** More space than that for what flows gains nothing. */
  private static final long ENOUGH = 64 << 10;

  /** Bytes of a slice's rows from which on it comes alone. */
  static final int WIDE_BYTES = 128;

  public StagedWeights {
    resident = Set.copyOf(resident);
  }

  /** Whether all of them can stay. */
  static boolean fit(List<Matmul> products, GpuTarget target) {
    return fit(products, target, 0);
  }

  /** Whether all of them can stay beside so many bytes. */
  static boolean fit(List<Matmul> products, GpuTarget target, long others) {
    return bytes(products) <= target.sharedPerBlock() - SLACK - others;
  }

  /**
   * Which weights stay: all, or as many as leave space for the others' stages. Those that do not
   * are spread evenly over the network, so that their copies are too, or the largest ones, if these
   * are fewer: of small ones, what is waited for is most of what they take. Where slices are
   * narrow, stages may have as much of K as there is, or a few slices: the more stages, the sooner
   * one is filled again, and the more weights stay; the fewer, the less is waited for.
   *
   * @param others bytes of shared memory for something else, where not all weights stay
   * @param part of a product, the columns of it that are computed at a time
   */
  static List<StagedWeights> candidates(
      List<Matmul> products, GpuTarget target, long others, ToLongFunction<Matmul> part) {
    if (fit(products, target)) {
      Set<Buffer> all = products.stream().map(Matmul::weight).collect(Collectors.toSet());
      return List.of(new StagedWeights(all, 0, 1, 1, true, 0));
    }
    List<StagedWeights> candidates = new ArrayList<>();
    for (boolean whole : new boolean[] {true, false}) {
      long space = target.sharedPerBlock() - SLACK - others;
      StagedWeights evenly = of(products, space, part, whole, false);
      StagedWeights largest = of(products, space, part, whole, true);
      boolean fewer = largest.streamed < products.size() - evenly.resident.size();
      for (StagedWeights weights : fewer ? List.of(evenly, largest) : List.of(evenly)) {
        if (candidates.stream().noneMatch(weights::isLike)) {
          candidates.add(weights);
        }
      }
    }
    return candidates;
  }

  /** Whether the same flows by the same slices, whatever they were asked to be. */
  private boolean isLike(StagedWeights other) {
    return resident.equals(other.resident) && depth == other.depth && slices == other.slices;
  }

  private static StagedWeights of(
      List<Matmul> products,
      long space,
      ToLongFunction<Matmul> part,
      boolean whole,
      boolean largest) {
    int layers = products.size();
    for (int streamed = 1; ; streamed++) {
      List<Matmul> flow = largest ? largest(products, streamed) : evenly(products, streamed);
      // A slice is as much work for narrow parts as for others.
      long depth = DEPTH;
      long widest = 0;
      long layer = 0;
      for (Matmul product : flow) {
        while (product.k() % depth != 0) {
          depth /= 2;
        }
        widest = Math.max(widest, part.applyAsLong(product));
        layer = Math.max(layer, bytes(product));
      }
      long left = space - (bytes(products) - bytes(flow));
      boolean all = streamed == layers;
      int slices = slices(flow, depth, whole, all ? left / (2 * widest) : Long.MAX_VALUE);
      long stage = widest * rowBytes(flow, depth * slices);
      if (all || left >= Math.max(2 * stage, Math.min(layer, ENOUGH))) {
        Set<Buffer> resident = new HashSet<>();
        products.forEach(product -> resident.add(product.weight()));
        flow.forEach(product -> resident.remove(product.weight()));
        int stages = (int) Math.clamp(left / stage, 1, whole ? MOST_STAGES : MOST_SHORT_STAGES);
        return new StagedWeights(resident, depth, slices, stages, whole, largest ? streamed : 0);
      }
    }
  }

  private static List<Matmul> evenly(List<Matmul> products, int count) {
    List<Matmul> some = new ArrayList<>();
    for (int j = 1; j <= count; j++) {
      some.add(products.get(j * products.size() / count - 1));
    }
    return some;
  }

  private static List<Matmul> largest(List<Matmul> products, int count) {
    return products.stream()
        .sorted(Comparator.comparingLong((Matmul product) -> bytes(product)).reversed())
        .limit(count)
        .toList();
  }

  /**
   * Slices of a stage: of narrow ones all that a weight has, or all but one. Their number is odd,
   * so that the panels of a stage are as wide as those of a slice. With a wait for each slice ptxas
   * spilled 7776 bytes in nine layers of 176 columns, with one or two for each layer nothing.
   *
   * @param whole whether as many as there may be
   * @param most bytes of a stage's rows
   */
  private static int slices(List<Matmul> flow, long depth, boolean whole, long most) {
    if (depth * flow.getFirst().weight().dtype().bytes() >= WIDE_BYTES) {
      return 1;
    }
    long deepest = flow.stream().mapToLong(Matmul::k).max().orElse(depth);
    long columns = whole ? deepest : Math.min(deepest, SHORT);
    int slices = (int) ((columns / depth - 1) / 2 * 2 + 1);
    while (slices > 1 && rowBytes(flow, depth * slices) > most) {
      slices -= 2;
    }
    return slices;
  }

  /** Bytes of a row of a stage, of so many columns at most. */
  private static long rowBytes(List<Matmul> flow, long columns) {
    long deepest = flow.stream().mapToLong(Matmul::k).max().orElse(columns);
    return Math.min(columns, deepest) * flow.getFirst().weight().dtype().bytes();
  }

  private static long bytes(List<Matmul> products) {
    return products.stream().mapToLong(StagedWeights::bytes).sum();
  }

  static long bytes(Matmul product) {
    return product.n() * product.k() * product.weight().dtype().bytes();
  }

  /** Whether there are any that do not stay. */
  boolean stream() {
    return depth > 0;
  }

  /** Whether a product's weight does not stay. */
  boolean flows(Matmul product) {
    return !resident.contains(product.weight());
  }

  /** Columns of a slice of a product's weight. */
  long depth(Matmul product) {
    return flows(product) ? depth : product.k();
  }

  int stages(Matmul product) {
    return flows(product) ? stages : 1;
  }

  /** Bytes of those of some products that stay. */
  long residentBytes(List<Matmul> products) {
    return products.stream().filter(p -> !flows(p)).mapToLong(StagedWeights::bytes).sum();
  }
}
