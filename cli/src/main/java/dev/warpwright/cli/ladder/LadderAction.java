package dev.warpwright.cli.ladder;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.base.files.AtomicFile;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.devices.Devices;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.examples.ladder.Ladder;
import dev.warpwright.examples.ladder.LadderRun;
import dev.warpwright.examples.ladder.Rung;
import dev.warpwright.examples.ladder.RungReport;
import dev.warpwright.examples.ladder.SimulatedLadder;
import dev.warpwright.examples.ladder.TensorRung;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.KernelSeries;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Measures or predicts the rungs, prints the table and writes the chart. */
public final class LadderAction implements Action<LadderRequest> {
  private static final String DEFAULT_DEVICE = "H200 SXM";

  @Override
  public Report perform(LadderRequest request, Progress progress) {
    List<Rung> rungs = rungs(request.rungs());
    if (request.task() == LadderRequest.Task.PROFILE && rungs.isEmpty()) {
      throw new UserError("--profile watches rungs in f32; name one of them");
    }
    return switch (request.task()) {
      case PREDICT -> predicted(request, rungs, progress);
      case SIMULATE -> simulated(request, rungs, progress);
      case MEASURE -> {
        Optional<Gpu> found = Gpu.find();
        if (found.isEmpty()) {
          progress.say("no GPU here: the times are predicted");
          yield predicted(request, rungs, progress);
        }
        try (Gpu device = found.get()) {
          yield measured(request, rungs, device, progress);
        }
      }
      case LAUNCH -> {
        try (Gpu device = gpu()) {
          KernelSeries.launch(
              rungs.stream()
                  .map(
                      rung ->
                          Ladder.kernel(
                              rung, request.dtype(), request.m(), request.n(), request.k()))
                  .toList(),
              device,
              request.seed(),
              request.files().report());
          yield new Report(true, "", Json.object());
        }
      }
      case PROFILE -> {
        try (Gpu device = gpu()) {
          // First what may be missing or forbidden here: then nothing was measured or written.
          Map<String, Map<String, String>> counted =
              LadderProfile.run("ncu", request, rungs, progress);
          Report report = measured(request, rungs, device, progress);
          yield new Report(
              report.ok(),
              report.text()
                  + System.lineSeparator()
                  + LadderProfile.text(counted)
                  + System.lineSeparator()
                  + OneLine.of("for Nsight Compute's window: " + request.files().report()),
              ((Json.Members) report.json())
                  .with("profile", LadderProfile.json(counted))
                  .with("report", String.valueOf(request.files().report())));
        }
      }
    };
  }

  private static Gpu gpu() {
    return Gpu.find()
        .orElseThrow(() -> new DeviceError(Devices.whyNoGpu() + "; --profile needs a GPU"));
  }

  private static List<Rung> rungs(List<String> names) {
    List<Rung> rungs = new ArrayList<>();
    for (String name : names) {
      if (TensorRung.find(name).isEmpty()) {
        rungs.add(Ladder.require(name));
      }
    }
    return names.isEmpty() ? Ladder.RUNGS : rungs;
  }

  private static List<TensorRung> tensorRungs(LadderRequest request) {
    List<String> names = request.rungs();
    if (names.isEmpty()) {
      return request.dtype() == DType.F32 ? List.of(TensorRung.values()) : List.of();
    }
    return names.stream().flatMap(name -> TensorRung.find(name).stream()).toList();
  }

  private static Report predicted(LadderRequest request, List<Rung> rungs, Progress progress) {
    DeviceModel model = model(request);
    LadderRun run = new LadderRun(request.m(), request.n(), request.k(), request.dtype(), model);
    List<RungReport> reports = new ArrayList<>(run.predict(rungs, progress::say));
    reports.addAll(run.predictTensor(tensorRungs(request)));
    if (request.files().search() != null) {
      search(request, model.name(), run.estimate(Ladder.search()));
    }
    return report(request, model.name(), ", predicted, not measured", reports);
  }

  private static Report simulated(LadderRequest request, List<Rung> rungs, Progress progress) {
    DeviceModel model = model(request);
    SimulatedLadder ladder =
        new SimulatedLadder(
            request.m(), request.n(), request.k(), request.dtype(), model, request.seed());
    List<RungReport> reports = new ArrayList<>(ladder.run(rungs, progress::say));
    reports.addAll(ladder.runTensor(tensorRungs(request), progress::say));
    return report(request, model.name(), ", simulated", reports);
  }

  /** The device whose times are predicted. */
  private static DeviceModel model(LadderRequest request) {
    String wanted = request.device() == null ? DEFAULT_DEVICE : request.device();
    return DeviceCatalogue.withCode("--device", wanted);
  }

  private static Report measured(
      LadderRequest request, List<Rung> rungs, Gpu device, Progress progress) {
    DeviceModel model =
        DeviceCatalogue.find(device.name())
            .orElseGet(() -> DeviceCatalogue.find(DEFAULT_DEVICE).orElseThrow());
    LadderRun run = new LadderRun(request.m(), request.n(), request.k(), request.dtype(), model);
    List<RungReport> reports = new ArrayList<>();
    if (!rungs.isEmpty()) {
      reports.addAll(run.measure(rungs, device, request.seed(), request.rounds(), progress::say));
    }
    reports.addAll(
        run.measureTensor(
            tensorRungs(request), device, request.seed(), request.rounds(), progress::say));
    if (request.files().search() != null) {
      search(
          request,
          device.name(),
          run.measure(Ladder.search(), device, request.seed(), request.rounds(), progress::say));
    }
    return report(request, device.name(), "", reports);
  }

  /** Draws what the autotuned rung was chosen from. */
  private static void search(LadderRequest request, String device, List<RungReport> tried) {
    Path file = Objects.requireNonNull(request.files().search());
    String svg =
        LadderChart.svg(
            String.format(
                Locale.ROOT,
                "Sizes of tiles and of a thread's groups, %dx%dx%d on %s",
                request.m(),
                request.n(),
                request.k(),
                device),
            tried);
    AtomicFile.write(file, out -> out.write(svg.getBytes(StandardCharsets.UTF_8)));
  }

  private static Report report(
      LadderRequest request, String device, String how, List<RungReport> reports) {
    if (!reports.isEmpty() && reports.stream().allMatch(r -> r.missing() != null)) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "none of the rungs runs on %s: %s",
              device,
              reports.getFirst().missing()));
    }
    String title =
        String.format(
            Locale.ROOT,
            "%dx%dx%d%s on %s",
            request.m(),
            request.n(),
            request.k(),
            request.dtype() == DType.F32 ? "" : " in " + request.dtype(),
            device + how);
    String text =
        request.task() == LadderRequest.Task.SIMULATE
            ? LadderTable.simulated(title, reports)
            : LadderTable.text(title, reports);
    if (request.chart() != null) {
      String svg = LadderChart.svg(title, reports);
      AtomicFile.write(request.chart(), out -> out.write(svg.getBytes(StandardCharsets.UTF_8)));
      text += System.lineSeparator() + "chart: " + OneLine.of(request.chart().toString());
    }
    if (request.files().search() != null) {
      text += System.lineSeparator() + "search: " + OneLine.of(request.files().search().toString());
    }
    boolean ok = reports.stream().allMatch(r -> r.failure() == null);
    return new Report(ok, text, LadderTable.json(request, device + how, reports));
  }
}
