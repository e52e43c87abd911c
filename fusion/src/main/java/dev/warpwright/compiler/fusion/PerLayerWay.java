package dev.warpwright.compiler.fusion;

import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A way of a network with a GEMM of the families for each layer, as its name says it: {@code GEMM
 * per layer overlap=1 attention0=5a6b7c8d gemm0=1f2e3d4c}.
 *
 * @param overlapping whether launches overlap (programmatic dependent launch), however many rows
 *     they have; of few they do where weights take most of the time
 * @param filling whether launches that overlap fill their rings with weights before they wait for
 *     the launch before, however many rows they have
 * @param norms whether GEMMs norm the rows that they read themselves, where they can
 * @param queries whether attention makes a step's queries, and its rows of the caches, itself,
 *     where it can
 * @param kernels what stands for the kernels of some of the network's {@linkplain
 *     NetworkCompiler#choices calls}: in the program others may be faster than those that are
 *     fastest alone, which calls have that are not named
 */
public record PerLayerWay(
    boolean overlapping,
    boolean filling,
    boolean norms,
    boolean queries,
    SortedMap<String, String> kernels) {
  /** What there is nothing more to say of. */
  static final PerLayerWay PLAIN = new PerLayerWay(false, false, false, false, new TreeMap<>());

  /** Launches that overlap. */
  static final PerLayerWay OVERLAPPING =
      new PerLayerWay(true, false, false, false, new TreeMap<>());

  /** The same with weights ahead of the wait. */
  static final PerLayerWay FILLING = new PerLayerWay(true, true, false, false, new TreeMap<>());

  /** Launches that overlap, without norms among them. */
  static final PerLayerWay NORMED = OVERLAPPING.withNorms();

  private static final String NORMS = "norms=gemm";
  private static final String QUERIES = "queries=attention";
  private static final String OVERLAP = "overlap=1";
  private static final String FILL = "overlap=weights";
  private static final String GEMM = "gemm";
  private static final String ATTENTION = "attention";
  private static final Pattern KERNEL =
      Pattern.compile("(" + GEMM + "|" + ATTENTION + ")[0-9]{1,4}=[0-9a-f]{8}");

  /** Copies the map. */
  public PerLayerWay {
    kernels = Collections.unmodifiableSortedMap(new TreeMap<>(kernels));
  }

  /** The way of a name; empty if the name is another kind of way's. */
  public static Optional<PerLayerWay> of(String name) {
    if (!name.equals(GemmPerLayer.NAME) && !name.startsWith(GemmPerLayer.NAME + " ")) {
      return Optional.empty();
    }
    PerLayerWay way = PLAIN;
    for (String word : name.substring(GemmPerLayer.NAME.length()).strip().split(" +")) {
      int equals = word.indexOf('=');
      if (word.equals(OVERLAP) || word.equals(FILL)) {
        way = new PerLayerWay(true, word.equals(FILL), way.norms, way.queries, way.kernels);
      } else if (word.equals(NORMS)) {
        way = way.withNorms();
      } else if (word.equals(QUERIES)) {
        way = way.withQueries();
      } else if (KERNEL.matcher(word).matches()) {
        way = way.with(word.substring(0, equals), word.substring(equals + 1));
      } else if (!word.isEmpty()) {
        return Optional.empty();
      }
    }
    return Optional.of(way);
  }

  /** The same without norms among its launches. */
  PerLayerWay withNorms() {
    return new PerLayerWay(overlapping, filling, true, queries, kernels);
  }

  /** The same without launches between projections and attention. */
  PerLayerWay withQueries() {
    return new PerLayerWay(overlapping, filling, norms, true, kernels);
  }

  /** The same with another kernel for a call. */
  public PerLayerWay with(String call, String digest) {
    SortedMap<String, String> changed = new TreeMap<>(kernels);
    changed.put(call, digest);
    return new PerLayerWay(overlapping, filling, norms, queries, changed);
  }

  /** The same with the kernels that are fastest alone. */
  public PerLayerWay plain() {
    return new PerLayerWay(overlapping, filling, norms, queries, new TreeMap<>());
  }

  /** Of a network's nth different GEMM. */
  static String gemm(int nth) {
    return GEMM + nth;
  }

  /** Of a network's nth different attention. */
  static String attention(int nth) {
    return ATTENTION + nth;
  }

  /** What stands for the kernel of a call; null if it is the one that is fastest alone. */
  @Nullable String kernel(String call) {
    return kernels.get(call);
  }

  /** By which it is measured and recorded. */
  public String name() {
    StringBuilder name = new StringBuilder(GemmPerLayer.NAME);
    if (overlapping) {
      name.append(' ').append(filling ? FILL : OVERLAP);
    }
    if (norms) {
      name.append(' ').append(NORMS);
    }
    if (queries) {
      name.append(' ').append(QUERIES);
    }
    kernels.forEach((call, digest) -> name.append(' ').append(call).append('=').append(digest));
    return name.toString();
  }
}
