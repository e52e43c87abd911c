package dev.warpwright.cli.accept;

import dev.warpwright.base.json.Json;
import dev.warpwright.cli.output.Ratios;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** What came of a figure. */
record AcceptResult(AcceptanceFigure figure, List<AcceptLine> lines) {
  /** The part of the ratios that may miss {@link AcceptanceFigure.Musts#p5}. */
  private static final double SPARED = 0.05;

  AcceptResult {
    lines = List.copyOf(lines);
  }

  Ratios ratios() {
    return Ratios.of(
        lines.stream().filter(AcceptLine::isCompared).mapToDouble(AcceptLine::ratio).toArray());
  }

  boolean passed() {
    Ratios ratios = ratios();
    return lines.stream().allMatch(line -> line.failure() == null)
        && ratios.mean() >= figure.must().mean()
        && ratios.quantiles().least() >= figure.must().least()
        && p5() >= figure.must().p5()
        && (figure.must().expected() == 0 || asExpected() >= figure.must().expected());
  }

  /** What share of the kernels takes what the model expects; NaN if it expected nothing. */
  double asExpected() {
    return (double) lines.stream().filter(AcceptLine::isAsExpected).count()
        / lines.stream().filter(AcceptLine::isExpected).count();
  }

  /** What 95 of 100 ratios reach at least; NaN if there are none. */
  double p5() {
    double[] sorted =
        lines.stream()
            .filter(AcceptLine::isCompared)
            .mapToDouble(AcceptLine::ratio)
            .sorted()
            .toArray();
    return sorted.length == 0 ? Double.NaN : sorted[(int) (SPARED * sorted.length)];
  }

  /** The figure, then all that is lost, failed or told of libraries that do not count. */
  List<String> text() {
    List<String> text = new ArrayList<>();
    Ratios ratios = ratios();
    text.add(
        String.format(
            Locale.ROOT,
            "%s  %-24s mean must be %.3f, least %.3f%s: %s; %d of %d GEMMs%s",
            passed() ? "PASS" : "FAIL",
            figure.name(),
            figure.must().mean(),
            figure.must().least(),
            figure.must().p5() > 0
                ? String.format(
                    Locale.ROOT, ", 95 of 100 %.3f (they reach %.3f)", figure.must().p5(), p5())
                : "",
            figure.of() == AcceptanceFigure.Ratio.BASELINE ? ratios.text() : ratios.middle(),
            ratios.count(),
            lines.size(),
            Double.isNaN(asExpected()) ? "" : expectation()));
    lines.stream()
        .sorted(Comparator.comparingDouble(AcceptLine::place))
        .filter(line -> line.place() < worth() || !line.isCompared() || !line.excluded().isEmpty())
        .forEach(
            line -> {
              text.add("        " + line.workload() + ": " + line.text());
              line.excluded().forEach(excluded -> text.add("          " + excluded));
            });
    return text;
  }

  private String expectation() {
    double must = figure.must().expected();
    return String.format(
        Locale.ROOT,
        ", %d of %d expected within 15 %%%s",
        lines.stream().filter(AcceptLine::isAsExpected).count(),
        lines.stream().filter(AcceptLine::isExpected).count(),
        must > 0 ? String.format(Locale.ROOT, " (%.0f of 100 must be)", 100 * must) : "");
  }

  /** Below which a ratio is told: losses to libraries, and what misses the least. */
  private double worth() {
    return figure.of() == AcceptanceFigure.Ratio.BASELINE
        ? Math.max(1, Math.max(figure.must().p5(), figure.must().least()))
        : Math.max(figure.must().p5(), figure.must().least());
  }

  Json json() {
    Ratios ratios = ratios();
    return ratios
        .into(
            Json.object()
                .with("name", figure.name())
                .with("passed", passed())
                .with("mean", ratios.mean())
                .with("mustMean", figure.must().mean())
                .with("mustLeast", figure.must().least())
                .with("p5", p5())
                .with("mustP5", figure.must().p5())
                .with("asExpected", asExpected())
                .with("mustExpected", figure.must().expected()))
        .with("products", Json.array(lines, AcceptLine::json));
  }
}
