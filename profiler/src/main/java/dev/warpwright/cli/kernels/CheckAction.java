package dev.warpwright.cli.kernels;

import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.output.Figure;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.verify.CheckOptions;
import dev.warpwright.verify.CheckReport;
import dev.warpwright.verify.CheckSubject;
import dev.warpwright.verify.Checks;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Runs kernels in the simulator, under its sanitizers. */
public final class CheckAction implements Action<CheckRequest> {
  @Override
  public Report perform(CheckRequest request, Progress progress) {
    if (request.mutants().isPresent()) {
      return CheckMutants.report(request, request.mutants().getAsInt(), progress);
    }
    if (request.counters()) {
      return CheckCounters.report(request);
    }
    if (request.gpu()) {
      return CheckOnGpu.report(request, progress);
    }
    List<CheckReport> reports = new ArrayList<>();
    CheckOptions options = request.options();
    if (CheckSubjects.isLadder(request)) {
      options = options.withScalars(Map.of());
    }
    for (CheckSubject subject : CheckSubjects.of(request)) {
      reports.addAll(Checks.check(subject, options));
    }
    return report(
        reports,
        request.options().seed(),
        "checked",
        Json.object().with("file", request.file().toString()));
  }

  static Report report(List<CheckReport> reports, long seed, String did, Json.Members json) {
    List<Finding> findings = reports.stream().flatMap(r -> r.findings().stream()).toList();
    List<String> lines = new ArrayList<>();
    for (CheckReport report : reports) {
      report.findings().forEach(finding -> lines.add(OneLine.of(finding.message())));
      lines.add(OneLine.of(did + " " + line(report, seed)));
    }
    Json.Members all =
        json.with("seed", seed)
            .with("ok", findings.isEmpty())
            .with("kernels", Json.array(reports, CheckAction::json))
            .with("findings", Json.array(findings, CheckAction::json));
    return new Report(findings.isEmpty(), String.join(System.lineSeparator(), lines), all);
  }

  private static String line(CheckReport report, long seed) {
    String scalars =
        new TreeMap<>(report.scalars())
            .entrySet().stream()
                .map(Map.Entry::toString)
                .collect(Collectors.joining(" ", " for ", ""));
    int count = report.findings().size();
    return report.subject()
        + (report.scalars().isEmpty() ? "" : scalars)
        + " in "
        + report.schedules()
        + (report.schedules() == 1 ? " order" : " orders")
        + (report.launches() == 1 ? "" : " of " + report.launches() + " launches")
        + (report.comparedWith().isEmpty() ? "" : ", compared with " + report.comparedWith() + ",")
        + " with seed "
        + seed
        + ": "
        + (count == 0 ? "no findings" : count == 1 ? "1 finding" : count + " findings")
        + (figure(report).text().isEmpty()
            ? ""
            : "; on an " + report.expected().device() + " " + figure(report).text());
  }

  private static Json json(CheckReport report) {
    Json.Members scalars = Json.object();
    for (Map.Entry<String, Long> scalar : new TreeMap<>(report.scalars()).entrySet()) {
      scalars = scalars.with(scalar.getKey(), scalar.getValue());
    }
    return figure(report)
        .into(
            Json.object()
                .with("name", report.subject())
                .with("kernels", Json.array(report.kernels(), Json::of))
                .with("scalars", scalars)
                .with("schedules", report.schedules())
                .with("launches", report.launches())
                .with(
                    "comparedWith", report.comparedWith().isEmpty() ? null : report.comparedWith())
                .with("findings", report.findings().size())
                .with("device", report.expected().device()));
  }

  private static Figure figure(CheckReport report) {
    return Figure.expected(report.expected().prediction());
  }

  /** A finding for scripts. */
  public static Json json(Finding finding) {
    return Json.object()
        .with("kernel", finding.kernel())
        .with("kind", finding.kind().text())
        .with("line", finding.line())
        .with("statement", finding.statement())
        .with("who", finding.who())
        .with("element", finding.element())
        .with("detail", finding.detail());
  }
}
