package dev.warpwright.verify;

import dev.warpwright.sim.api.Finding;
import dev.warpwright.verify.MutationTesting.Result;
import dev.warpwright.verify.MutationTesting.Verdict;
import dev.warpwright.verify.mutation.Mutation;
import dev.warpwright.verify.mutation.Mutations;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What became of planted mistakes, as text in Markdown.
 *
 * @param subjects the kernels in order
 * @param results of their mutants
 * @param left what is missing
 */
public record MutationTable(List<String> subjects, List<Result> results, Left left) {
  /**
   * What was not tried, for the time was over.
   *
   * @param mutants of kernels of which others were tried
   * @param subjects of which none was
   */
  public record Left(int mutants, List<String> subjects) {
    /** Everything was tried. */
    public static final Left NOTHING = new Left(0, List.of());

    public Left {
      subjects = List.copyOf(subjects);
    }

    boolean isNothing() {
      return mutants == 0 && subjects.isEmpty();
    }
  }

  /** What stands above the table in a file stays as it is. */
  public static final String MARK =
      "<!-- The rest of this file is written by check all --mutants -->";

  private static final List<Verdict> COLUMNS =
      List.of(
          Verdict.REPORTED,
          Verdict.WRONG_RESULT,
          Verdict.REFUSED,
          Verdict.NOT_EXECUTED,
          Verdict.EQUIVALENT,
          Verdict.SURVIVED);

  public MutationTable {
    subjects = List.copyOf(subjects);
    results = List.copyOf(results);
  }

  /** One sentence, and another if the time was over before everything was tried. */
  public String summary() {
    return tried() + (left.isNothing() ? "" : " " + missing());
  }

  private String missing() {
    return String.format(
        Locale.ROOT,
        "NOT TRIED, for the time was over: %d mutants of these kernels%s.",
        left.mutants,
        left.subjects.isEmpty()
            ? ""
            : ", and "
                + left.subjects.size()
                + " kernels with all of theirs: "
                + String.join(", ", left.subjects));
  }

  private String tried() {
    return String.format(
        Locale.ROOT,
        "%d mutants of %d kinds in %d kernels: %d reported, %d wrong results, %d refused, %d in"
            + " statements that do not run, %d as good as the original, %d survived. No findings in"
            + " the %d kernels as they are.",
        results.size(),
        results.stream().map(r -> r.mutant().mutation()).distinct().count(),
        subjects.size(),
        count(Verdict.REPORTED),
        count(Verdict.WRONG_RESULT),
        count(Verdict.REFUSED),
        count(Verdict.NOT_EXECUTED),
        count(Verdict.EQUIVALENT),
        count(Verdict.SURVIVED),
        subjects.size());
  }

  private long count(Verdict verdict) {
    return results.stream().filter(r -> r.verdict() == verdict).count();
  }

  /**
   * A file with this table.
   *
   * @param before the file as it is; without {@link #MARK} the table follows all of it
   */
  public String into(String before) {
    int mark = before.indexOf(MARK);
    StringBuilder out =
        new StringBuilder(mark < 0 ? before : before.substring(0, mark)).append(MARK);
    out.append("\n\n").append(summary()).append("\n\n## By kind of mistake\n\n");
    out.append("| mistake | mutants | reported as | wrong result | refused | not run | as good |\n")
        .append("|---|---|---|---|---|---|---|\n");
    for (Mutation mutation : Mutations.ALL) {
      List<Result> of = results.stream().filter(r -> r.mutant().mutation() == mutation).toList();
      out.append(
          String.format(
              Locale.ROOT,
              "| %s | %d | %s | %s | %s | %s | %s |\n",
              mutation.name(),
              of.size(),
              kinds(of),
              cell(of, Verdict.WRONG_RESULT),
              cell(of, Verdict.REFUSED),
              cell(of, Verdict.NOT_EXECUTED),
              cell(of, Verdict.EQUIVALENT)));
    }
    out.append("\n## By kernel\n\n| kernel | mutants | reported | wrong result | refused | not run")
        .append(" | as good | survived |\n|---|---|---|---|---|---|---|---|\n");
    Map<String, List<Result>> bySubject =
        results.stream().collect(Collectors.groupingBy(Result::subject));
    for (String subject : subjects) {
      List<Result> of = bySubject.getOrDefault(subject, List.of());
      out.append(String.format(Locale.ROOT, "| %s | %d |", subject, of.size()));
      COLUMNS.forEach(
          verdict -> out.append(String.format(Locale.ROOT, " %s |", cell(of, verdict))));
      out.append('\n');
    }
    return out.append(equivalents()).toString();
  }

  private String equivalents() {
    StringBuilder out = new StringBuilder("\n## Why some are as good as the original\n");
    for (Equivalence rule : Equivalence.values()) {
      List<Result> of = results.stream().filter(r -> r.rule() == rule).toList();
      out.append(
          String.format(
              Locale.ROOT,
              "\n**%s** (%d mutants). %s\n\n",
              sentence(rule.text()),
              of.size(),
              rule.rule()));
      if (rule != Equivalence.VALUES) {
        out.append(places(of));
        continue;
      }
      for (int shapes = of.stream().mapToInt(Result::shapes).max().orElse(0);
          shapes >= 0;
          shapes--) {
        int count = shapes;
        List<Result> tried = of.stream().filter(r -> r.shapes() == count).toList();
        if (!tried.isEmpty()) {
          out.append(
              String.format(
                  Locale.ROOT,
                  "%s (%d mutants):\n\n%s\n",
                  count == 0
                      ? "At one shape only"
                      : count == 1 ? "At one more shape" : "At " + count + " more shapes",
                  tried.size(),
                  places(tried)));
        }
      }
    }
    return out.toString();
  }

  /** A line for each kind of mistake. */
  private static String places(List<Result> of) {
    StringBuilder out = new StringBuilder();
    for (Mutation mutation : Mutations.ALL) {
      List<String> places = new ArrayList<>();
      of.stream()
          .filter(r -> r.mutant().mutation() == mutation)
          .forEach(r -> places.add(r.subject() + ":" + r.mutant().line()));
      if (!places.isEmpty()) {
        out.append(
            String.format(Locale.ROOT, "- %s: %s.\n", mutation.name(), String.join(", ", places)));
      }
    }
    return out.toString();
  }

  private static String sentence(String text) {
    return Character.toUpperCase(text.charAt(0)) + text.substring(1);
  }

  private static String cell(List<Result> of, Verdict verdict) {
    long count = of.stream().filter(r -> r.verdict() == verdict).count();
    return count == 0 ? "" : Long.toString(count);
  }

  private static String kinds(List<Result> of) {
    return of.stream()
        .filter(r -> r.verdict() == Verdict.REPORTED)
        .collect(Collectors.groupingBy(r -> kind(r.detail()), TreeMap::new, Collectors.counting()))
        .entrySet()
        .stream()
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
