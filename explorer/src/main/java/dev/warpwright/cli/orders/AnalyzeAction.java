package dev.warpwright.cli.orders;

import dev.warpwright.base.files.AtomicFile;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.output.Csv;
import dev.warpwright.cli.output.Figure;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.perf.RooflineBound;
import dev.warpwright.perf.analyze.Analysis;
import dev.warpwright.perf.analyze.MeasuredOrders;
import dev.warpwright.perf.analyze.Roofline;
import dev.warpwright.perf.predict.GemmPrediction;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.target.Calibration;
import dev.warpwright.target.DeviceModel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/** Tells which parts of a workload are bound by memory, how full the device is, and why. */
public final class AnalyzeAction implements Action<AnalyzeRequest> {
  /** Of sizes that were hardly meant: seconds of 13 digits do not say so. */
  private static final double DAY_US = 86_400e6;

  private static final double YEAR_DAYS = 365.25;

  @Override
  public Report perform(AnalyzeRequest request, Progress progress) {
    List<Analysis> analyses =
        request.gpus().stream().map(gpu -> Analysis.of(request.workload(), gpu)).toList();
    if (request.csv() != null) {
      byte[] csv = csv(analyses).getBytes(StandardCharsets.UTF_8);
      AtomicFile.write(request.csv(), out -> out.write(csv));
    }
    if (request.svg() != null) {
      byte[] svg = RooflineDrawing.svg(analyses).getBytes(StandardCharsets.UTF_8);
      AtomicFile.write(request.svg(), out -> out.write(svg));
    }
    List<String> lines = new ArrayList<>();
    lines.add(request.workload().name() + ", " + request.workload().type().text());
    for (Analysis analysis : analyses) {
      lines.add("");
      text(analysis, lines);
    }
    request.notes().forEach(lines::add);
    return new Report(true, String.join(System.lineSeparator(), lines), json(request, analyses));
  }

  private static void text(Analysis analysis, List<String> lines) {
    DeviceModel gpu = analysis.device();
    lines.add(
        format(
            "%s: %.0f TFLOP/s, %d GB/s, memory bound below %.0f operations a byte",
            gpu.name(),
            analysis.workload().type().peak(gpu) / 1e12,
            gpu.dramGBs(),
            analysis.lines().getFirst().roofline().ridge()));
    if (!analysis.fits()) {
      lines.add(
          format(
              "does not fit: %s of weights, keys and values, and %s has %d GB; as if it did",
              bytes(analysis.residentBytes()), gpu.name(), gpu.dramGB()));
    }
    lines.add(
        format(
            "%-18s %-22s %5s %10s %8s %9s %10s %10s",
            "part", "M x N x K", "times", "at least", "op/byte", "bound by", "tile", "waves"));
    for (Analysis.Line line : analysis.lines()) {
      GemmPrediction best = line.best();
      lines.add(
          format(
              "%-18s %-22s %5d %10s %8.0f %9s %10s %10s",
              line.part().name() + (line.part().vanishes() ? " *" : ""),
              line.part().gemm() == null ? "" : line.part().gemm().text(),
              line.part().times(),
              time(line.totalBoundUs()),
              line.part().intensity(),
              line.roofline().memoryBound() ? "memory" : "compute",
              best == null ? "" : best.tiling().text(),
              best == null ? "" : format("%d, %.0f%%", best.waves(), 100 * (1 - best.tail()))));
    }
    for (Analysis.Line line : analysis.lines()) {
      GemmPrediction best = line.best();
      if (best != null) {
        lines.add(
            format(
                "  %s: %s, with %s; %s from memory (at least %s), L2 serves %.0f%% of %s%s",
                line.part().name(),
                figure(line).text(),
                best.tiling().text(),
                bytes(best.dramBytes()),
                bytes(line.part().bytes()),
                100 * best.hitRate(),
                bytes(best.l2Bytes()),
                line.fitsL2() ? "; all of it fits into L2" : ""));
      }
    }
    if (analysis.lines().stream().anyMatch(line -> line.part().vanishes())) {
      lines.add("  * not there where neighbours are fused");
    }
    lines.add("  all parts, fused: at least " + time(analysis.boundUs()));
    if (Calibration.isExtrapolated(analysis.device())) {
      lines.add(
          "  extrapolated: the models were fitted on another device, this one's figures are those"
              + " of its data sheet");
    }
  }

  private static String csv(List<Analysis> analyses) {
    var csv =
        new StringBuilder(
            "gpu,part,times,M,N,K,flops,bytes,intensity,computeUs,memoryUs,boundUs,boundBy,tile,"
                + "waves,tail,predictedUs,dramBytes,l2Bytes\n");
    for (Analysis analysis : analyses) {
      for (Analysis.Line line : analysis.lines()) {
        var shape = line.part().gemm();
        Roofline roofline = line.roofline();
        GemmPrediction best = line.best();
        csv.append(
            format(
                "%s,%s,%d,%s,%.0f,%.0f,%.3f,%.3f,%.3f,%.3f,%s,%s\n",
                Csv.cell(analysis.device().name()),
                Csv.cell(line.part().name()),
                line.part().times(),
                shape == null ? ",," : shape.m() + "," + shape.n() + "," + shape.k(),
                line.part().flops(),
                line.part().bytes(),
                line.part().intensity(),
                roofline.computeUs(),
                roofline.memoryUs(),
                roofline.boundUs(),
                roofline.memoryBound() ? "memory" : "compute",
                best == null
                    ? ",,,,,"
                    : format(
                        "%s,%d,%.4f,%.3f,%.0f,%.0f",
                        best.tiling().text(),
                        best.waves(),
                        best.tail(),
                        best.timeUs(),
                        best.dramBytes(),
                        best.l2Bytes())));
      }
    }
    return csv.toString();
  }

  /** The whole analysis, as the command and the page give it. */
  public static Json json(AnalyzeRequest request, List<Analysis> analyses) {
    return Json.object()
        .with("workload", request.workload().name())
        .with("dtype", request.workload().type().text())
        .with("notes", Json.array(request.notes(), Json::of))
        .with(
            "devices",
            Json.array(
                analyses,
                analysis ->
                    Json.object()
                        .with("gpu", analysis.device().name())
                        .with("peak", request.workload().type().peak(analysis.device()))
                        .with("bandwidth", analysis.device().dramGBs() * 1e9)
                        .with("extrapolated", Calibration.isExtrapolated(analysis.device()))
                        .with("boundUs", analysis.boundUs())
                        .with("needBytes", analysis.residentBytes())
                        .with("memoryBytes", analysis.device().dramGB() * 1e9)
                        .with("fits", analysis.fits())
                        .with(
                            "parts", Json.array(analysis.lines(), line -> part(line, analysis)))));
  }

  /** One occurrence. */
  private static Figure figure(Analysis.Line line) {
    Roofline roofline = line.roofline();
    return new Figure(
        Double.NaN,
        line.best() == null ? Double.NaN : line.best().timeUs(),
        new RooflineBound(
            roofline.boundUs(),
            roofline.memoryBound() ? RooflineBound.By.BYTES : RooflineBound.By.OPERATIONS));
  }

  private static Json part(Analysis.Line line, Analysis analysis) {
    Json.Members json =
        figure(line)
            .into(Json.object())
            .with("name", line.part().name())
            .with("times", line.part().times())
            .with("vanishesWhenFused", line.part().vanishes())
            .with("flops", line.part().flops())
            .with("bytes", line.part().bytes())
            .with("intensity", line.part().intensity())
            .with("computeUs", line.roofline().computeUs())
            .with("memoryUs", line.roofline().memoryUs())
            .with("boundUs", line.roofline().boundUs())
            .with("boundBy", line.roofline().memoryBound() ? "memory" : "compute")
            .with("fitsL2", line.fitsL2());
    var shape = line.part().gemm();
    if (shape != null) {
      json = json.with("M", shape.m()).with("N", shape.n()).with("K", shape.k());
    }
    GemmPrediction best = line.best();
    json = json.with("l2Bytes", best == null ? line.part().l2Bytes() : best.l2Bytes());
    OptionalDouble measured =
        shape == null ? OptionalDouble.empty() : measuredUs(shape, analysis.device());
    if (measured.isPresent()) {
      json = json.with("measuredUs", measured.getAsDouble());
    }
    return best == null ? json : json.with("best", prediction(best));
  }

  /** The fastest launch of a product that comes along as measured. */
  private static OptionalDouble measuredUs(GemmShape shape, DeviceModel device) {
    return device == MeasuredOrders.device()
        ? MeasuredOrders.all().stream()
            .filter(row -> row.shape().equals(shape))
            .mapToDouble(MeasuredOrders.Row::timeUs)
            .min()
        : OptionalDouble.empty();
  }

  /** A prediction. */
  public static Json prediction(GemmPrediction p) {
    return Json.object()
        .with("tile", p.tiling().text())
        .with("order", p.order().text())
        .with("tiles", p.tiles())
        .with("atOnce", p.tiling().atOnce(p.device()))
        .with("waves", p.waves())
        .with("tail", p.tail())
        .with("timeUs", p.timeUs())
        .with("computeUs", p.computeUs())
        .with("memoryUs", p.memoryUs())
        .with("l2Us", p.l2Us())
        .with("dramReadBytes", p.dramReadBytes())
        .with("dramWriteBytes", p.dramWriteBytes())
        .with("l2Bytes", p.l2Bytes())
        .with("hitRate", p.hitRate());
  }

  static String time(double us) {
    if (us >= 2 * DAY_US) {
      return us >= 2 * YEAR_DAYS * DAY_US
          ? format("%.0f years", us / DAY_US / YEAR_DAYS)
          : format("%.1f days", us / DAY_US);
    }
    return us < 1000
        ? format("%.1f us", us)
        : us < 1e6 ? format("%.2f ms", us / 1e3) : format("%.2f s", us / 1e6);
  }

  static String bytes(double bytes) {
    return bytes < 1e6
        ? format("%.0f kB", bytes / 1e3)
        : bytes < 1e9 ? format("%.1f MB", bytes / 1e6) : format("%.2f GB", bytes / 1e9);
  }

  private static String format(String text, Object... values) {
    return String.format(Locale.ROOT, text, values);
  }
}
