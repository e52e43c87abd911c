package dev.warpwright.verify;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Tries all mistakes made by hand with check's defaults, as many at a time as there are processors,
 * and prints those that are not found, and what was said of the others. See {@code
 * bench/mistakes.sh}.
 */
final class HandMadeMistakes {
  private HandMadeMistakes() {}

  /**
   * Ends with 1 if any is not found.
   *
   * @param arguments words that a mistake's name must have one of; none for all mistakes
   */
  public static void main(String[] arguments) throws InterruptedException {
    List<HandMadeMistake> mistakes = new ArrayList<>();
    for (String kernel : HandMadeMistake.KERNELS) {
      for (HandMadeMistake mistake : HandMadeMistake.in(kernel)) {
        if (arguments.length == 0 || isNamed(mistake, arguments)) {
          mistakes.add(mistake);
        }
      }
    }
    Map<HandMadeMistake, String> verdicts = new ConcurrentHashMap<>();
    AtomicInteger done = new AtomicInteger();
    long begun = System.nanoTime();
    int processors = Runtime.getRuntime().availableProcessors();
    try (ExecutorService threads = Executors.newFixedThreadPool(processors)) {
      for (HandMadeMistake mistake : mistakes) {
        threads.execute(
            () -> {
              verdicts.put(mistake, verdict(mistake));
              int count = done.incrementAndGet();
              if (count % 10 == 0) {
                System.err.printf(Locale.ROOT, "%d of %d%n", count, mistakes.size());
              }
            });
      }
      threads.shutdown();
      if (!threads.awaitTermination(1, TimeUnit.DAYS)) {
        throw new IllegalStateException("not done after a day");
      }
    }
    Map<String, List<HandMadeMistake>> byKind = new LinkedHashMap<>();
    List<HandMadeMistake> missed = new ArrayList<>();
    for (HandMadeMistake mistake : mistakes) {
      String verdict = verdicts.getOrDefault(mistake, "");
      if (verdict.isEmpty()) {
        missed.add(mistake);
      } else {
        String kind = verdict.substring(0, Math.max(0, verdict.indexOf(':')));
        byKind.computeIfAbsent(kind, k -> new ArrayList<>()).add(mistake);
      }
    }
    byKind.forEach((kind, of) -> System.out.printf(Locale.ROOT, "%4d %s%n", of.size(), kind));
    missed.forEach(mistake -> System.out.println("NOT FOUND " + mistake));
    System.out.printf(
        Locale.ROOT,
        "%d mistakes, %d not found, in %d s%n",
        mistakes.size(),
        missed.size(),
        TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begun));
    System.exit(missed.isEmpty() ? 0 : 1);
  }

  private static boolean isNamed(HandMadeMistake mistake, String[] words) {
    for (String word : words) {
      if (mistake.toString().contains(word)) {
        return true;
      }
    }
    return false;
  }

  /** A mistake at which anything else goes wrong is not found, either. */
  private static String verdict(HandMadeMistake mistake) {
    try {
      return mistake.verdict(1);
    } catch (RuntimeException e) {
      System.err.println(mistake + ": " + e);
      return "";
    }
  }
}
