package dev.warpwright.compiler.fusion;

import java.util.Arrays;
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
 * @param overlap of launches that would not overlap by themselves
 * @param kernels what stands for the kernels of some of the network's {@linkplain
 *     NetworkCompiler#choices calls}: in the program others may be faster than those that are
 *     fastest alone, which calls have that are not named
 */
public record PerLayerWay(Overlap overlap, SortedMap<String, String> kernels) {
  /** How a GEMM's launch overlaps with the one before it (programmatic dependent launch). */
  public enum Overlap {
    /** Where weights take most of the time, which few rows leave so. */
    AS_PLANNED(""),
    /** Each begins early; of few rows it fills its ring with weights, of more it waits at once. */
    LAUNCHES("overlap=1"),
    /** Each fills its ring with weights first, however many rows it has. */
    WEIGHTS("overlap=weights");

    private final String word;

    Overlap(String word) {
      this.word = word;
    }

    private static Optional<Overlap> of(String word) {
      return Arrays.stream(values())
          .filter(each -> !word.isEmpty() && each.word.equals(word))
          .findFirst();
    }
  }

  /** What there is nothing more to say of. */
  static final PerLayerWay PLAIN = new PerLayerWay(Overlap.AS_PLANNED, new TreeMap<>());

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
      Optional<Overlap> overlap = Overlap.of(word);
      if (overlap.isPresent()) {
        way = way.overlapped(overlap.get());
      } else if (KERNEL.matcher(word).matches()) {
        way = way.with(word.substring(0, equals), word.substring(equals + 1));
      } else if (!word.isEmpty()) {
        return Optional.empty();
      }
    }
    return Optional.of(way);
  }

  /** The same with another kernel for a call. */
  public PerLayerWay with(String call, String digest) {
    SortedMap<String, String> changed = new TreeMap<>(kernels);
    changed.put(call, digest);
    return new PerLayerWay(overlap, changed);
  }

  /** The same with the kernels that are fastest alone. */
  public PerLayerWay plain() {
    return new PerLayerWay(overlap, new TreeMap<>());
  }

  /** The same with launches that overlap so. */
  PerLayerWay overlapped(Overlap other) {
    return new PerLayerWay(other, kernels);
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
    if (overlap != Overlap.AS_PLANNED) {
      name.append(' ').append(overlap.word);
    }
    kernels.forEach((call, digest) -> name.append(' ').append(call).append('=').append(digest));
    return name.toString();
  }
}
