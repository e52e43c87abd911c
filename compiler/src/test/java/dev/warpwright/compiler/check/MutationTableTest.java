package dev.warpwright.compiler.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.compiler.check.MutationTesting.Result;
import dev.warpwright.compiler.check.MutationTesting.Verdict;
import dev.warpwright.sim.Finding;
import dev.warpwright.sim.mutation.Equivalences;
import dev.warpwright.sim.mutation.Mutant;
import dev.warpwright.sim.mutation.Mutation;
import dev.warpwright.sim.mutation.Mutations;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Plants mistakes of every kind into every kernel of the repository and writes the table in {@code
 * docs/mutation-testing.md}. It takes many minutes: {@code -Dmutants=N} runs it with up to N
 * mistakes of a kind in each kernel; with {@code -Dladder=true} for the rungs of the ladder.
 */
@EnabledIfSystemProperty(named = "mutants", matches = "\\d+")
class MutationTableTest {
  private static final boolean LADDER = Boolean.getBoolean("ladder");
  private static final Path TABLE =
      Path.of("..", "docs", LADDER ? "mutation-testing-ladder.md" : "mutation-testing.md");
  private static final String MARK =
      "<!-- The rest of this file is written by MutationTableTest. -->";

  private final List<Result> results = new ArrayList<>();

  @Test
  void everyMistakeIsReported() throws IOException {
    List<String> clean = new ArrayList<>();
    for (MutationSubject subject : LADDER ? MutationSubjects.ladder() : MutationSubjects.all()) {
      long start = System.nanoTime();
      MutationTesting testing = new MutationTesting(subject, CheckOptions.of(5).orders());
      clean.add(subject.name());
      for (Mutant mutant : testing.mutants(Integer.getInteger("mutants"))) {
        Result result = testing.test(mutant);
        results.add(result);
        if (result.verdict() == Verdict.MISSED) {
          System.err.println(result);
        }
      }
      System.err.printf("%s: %.1f s%n", subject.name(), (System.nanoTime() - start) * 1e-9);
    }
    write(clean);
    assertThat(results.stream().filter(r -> r.verdict() == Verdict.MISSED)).isEmpty();
    assertThat(
            results.stream()
                .filter(r -> r.verdict() == Verdict.EQUIVALENT)
                .filter(r -> Equivalences.argument(r.mutant().mutation()) == null))
        .isEmpty();
  }

  private void write(List<String> clean) throws IOException {
    String text = Files.readString(TABLE);
    StringBuilder out = new StringBuilder(text.substring(0, text.indexOf(MARK))).append(MARK);
    out.append("\n\n").append(summary(clean)).append("\n\n## By kind of mistake\n\n");
    out.append(
        "| mistake | mutants | reported as | wrong result | refused | not run | as good |\n");
    out.append("|---|---|---|---|---|---|---|\n");
    for (Mutation mutation : Mutations.ALL) {
      List<Result> of = results.stream().filter(r -> r.mutant().mutation() == mutation).toList();
      out.append(
          "| %s | %d | %s | %s | %s | %s | %s |\n"
              .formatted(
                  mutation.name(),
                  of.size(),
                  kinds(of),
                  count(of, Verdict.WRONG_RESULT),
                  count(of, Verdict.REFUSED),
                  count(of, Verdict.NOT_EXECUTED),
                  count(of, Verdict.EQUIVALENT)));
    }
    out.append("\n## By kernel\n\n| kernel | mutants | reported | wrong result | refused | not run")
        .append(" | as good | missed |\n|---|---|---|---|---|---|---|---|\n");
    for (String subject : clean) {
      List<Result> of = results.stream().filter(r -> r.subject().equals(subject)).toList();
      out.append("| %s | %d |".formatted(subject, of.size()));
      for (Verdict verdict :
          List.of(
              Verdict.REPORTED,
              Verdict.WRONG_RESULT,
              Verdict.REFUSED,
              Verdict.NOT_EXECUTED,
              Verdict.EQUIVALENT,
              Verdict.MISSED)) {
        out.append(" %s |".formatted(count(of, verdict)));
      }
      out.append('\n');
    }
    out.append("\n## Why some are as good as the original\n\n");
    for (Mutation mutation : Mutations.ALL) {
      List<String> places =
          results.stream()
              .filter(r -> r.mutant().mutation() == mutation)
              .filter(r -> r.verdict() == Verdict.EQUIVALENT)
              .map(r -> r.subject() + ":" + r.mutant().line())
              .toList();
      if (!places.isEmpty()) {
        out.append(
            "- **%s**: %s. Kernel and line: %s.\n"
                .formatted(
                    mutation.name(), Equivalences.argument(mutation), String.join(", ", places)));
      }
    }
    Files.writeString(TABLE, out.toString());
  }

  private String summary(List<String> clean) {
    Map<Verdict, Long> counts = new EnumMap<>(Verdict.class);
    for (Verdict verdict : Verdict.values()) {
      counts.put(verdict, results.stream().filter(r -> r.verdict() == verdict).count());
    }
    return "%d mutants of %d kinds in %d kernels: %d reported, %d wrong results, %d refused, %d in statements that do not run, %d as good as the original, %d missed. No findings in the %d kernels as they are."
        .formatted(
            results.size(),
            Mutations.ALL.size(),
            clean.size(),
            counts.get(Verdict.REPORTED),
            counts.get(Verdict.WRONG_RESULT),
            counts.get(Verdict.REFUSED),
            counts.get(Verdict.NOT_EXECUTED),
            counts.get(Verdict.EQUIVALENT),
            counts.get(Verdict.MISSED),
            clean.size());
  }

  private static String count(List<Result> of, Verdict verdict) {
    long count = of.stream().filter(r -> r.verdict() == verdict).count();
    return count == 0 ? "" : Long.toString(count);
  }

  private static String kinds(List<Result> of) {
    Map<String, Long> kinds =
        of.stream()
            .filter(r -> r.verdict() == Verdict.REPORTED)
            .collect(
                Collectors.groupingBy(r -> kind(r.detail()), TreeMap::new, Collectors.counting()));
    return kinds.entrySet().stream()
        .map(e -> e.getKey() + " " + e.getValue())
        .collect(Collectors.joining(", "));
  }

  private static String kind(String message) {
    for (Finding.Kind kind : Finding.Kind.values()) {
      if (message.contains(": " + kind.text())) {
        return kind.text();
      }
    }
    return "other";
  }
}
