package dev.warpwright.workload;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What is computed, as records are found by: a kind and its parameters, in one order. In text:
 * {@code gemm dtype=bf16 k=4096 layout=nt m=16 n=14336}.
 *
 * @param kind one word, without {@code =}
 * @param parameters words by their names; sorted
 */
public record WorkloadKey(String kind, Map<String, String> parameters) {
  /** Sorts the parameters and checks that all are words. */
  public WorkloadKey {
    parameters = Collections.unmodifiableMap(new TreeMap<>(parameters));
    requireWord(kind);
    parameters.forEach(
        (name, value) -> {
          requireWord(name);
          requireWord(value);
        });
  }

  private static void requireWord(String word) {
    if (word.isEmpty() || word.chars().anyMatch(c -> c == '=' || c < '!' || c > '~')) {
      throw new IllegalArgumentException("\"" + word + "\" is no word of a workload");
    }
  }

  /**
   * Reads the text form.
   *
   * @param text as {@link #text()} gives it
   * @return the key
   * @throws IllegalArgumentException if it is none
   */
  public static WorkloadKey parse(String text) {
    String[] words = text.strip().split(" +");
    Map<String, String> parameters = new TreeMap<>();
    for (int i = 1; i < words.length; i++) {
      int equals = words[i].indexOf('=');
      if (equals < 1) {
        throw new IllegalArgumentException("\"" + words[i] + "\" is no parameter of a workload");
      }
      if (parameters.put(words[i].substring(0, equals), words[i].substring(equals + 1)) != null) {
        throw new IllegalArgumentException("a parameter is given twice in \"" + text + "\"");
      }
    }
    return new WorkloadKey(words[0], parameters);
  }

  /** {@return the text form} */
  public String text() {
    return parameters.isEmpty()
        ? kind
        : kind
            + " "
            + parameters.entrySet().stream()
                .map(e -> e.getKey() + "=" + e.getValue())
                .collect(Collectors.joining(" "));
  }

  /**
   * {@return how much unlike another workload this one is: the sum of |log₂| of the ratios of
   * numbers, and 4 for each word that differs} 0 for itself; infinite between kinds.
   *
   * @param other of any kind
   */
  public double distance(WorkloadKey other) {
    if (!kind.equals(other.kind) || !parameters.keySet().equals(other.parameters.keySet())) {
      return Double.POSITIVE_INFINITY;
    }
    double distance = 0;
    for (Map.Entry<String, String> mine : parameters.entrySet()) {
      String its = other.parameters.get(mine.getKey());
      if (mine.getValue().equals(its)) {
        continue;
      }
      long a = number(mine.getValue());
      long b = its == null ? -1 : number(its);
      distance += a > 0 && b > 0 ? Math.abs(Math.log((double) a / b)) / Math.log(2) : 4;
    }
    return distance;
  }

  /** A positive number, or -1. */
  private static long number(String text) {
    boolean digits = text.length() <= 18 && text.chars().allMatch(c -> c >= '0' && c <= '9');
    return digits && !text.isEmpty() && Long.parseLong(text) > 0 ? Long.parseLong(text) : -1;
  }

  @Override
  public String toString() {
    return text();
  }
}
