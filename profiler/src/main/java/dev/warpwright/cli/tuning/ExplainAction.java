package dev.warpwright.cli.tuning;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.files.AtomicFile;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.jobs.DeviceQueue;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.families.tuned.GemmChooser;
import dev.warpwright.families.tuned.KernelCheck;
import dev.warpwright.families.tuned.RejectedKernels;
import dev.warpwright.families.tuned.TunedGemm;
import dev.warpwright.measure.tuning.Explanation;
import dev.warpwright.measure.tuning.GemmExplain;
import dev.warpwright.measure.tuning.GemmTuning;
import dev.warpwright.measure.tuning.WinnerFiles;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.tune.measure.Measurer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;

/** Tells what the decisions behind a product's kernel are worth. */
public final class ExplainAction implements Action<ExplainRequest> {
  private static final String DEFAULT_DEVICE = "H200 SXM";
  private static final long SEED = 1;

  @Override
  public Report perform(ExplainRequest request, Progress progress) {
    Optional<TuningDevice> here = request.model() == null ? TuningDevice.look() : Optional.empty();
    DeviceModel model = model(request, here);
    String device = here.map(gpu -> gpu.name()).orElse(model.name());
    if (here.isEmpty()) {
      progress.say("times are predicted for an " + model.name() + ", not measured");
    }
    TunedGemm winner = winner(request, model, here, progress);
    GemmExplain explain = new GemmExplain(request.workload(), model, device, progress::say);
    try {
      Explanation explanation;
      if (here.isPresent()) {
        try (DeviceQueue.Turn _ = here.get().turn("explain", progress);
            Measurer measurer = GemmTuning.measurer(here.get().target(), SEED)) {
          explanation = explain.explain(winner, measurer);
        }
      } else {
        explanation = explain.explain(winner, null);
      }
      Path file = write(request, model, explanation);
      progress.say("also in " + file);
      boolean ok = explanation.winner().timeUs() != null;
      return new Report(ok, explanation.text(), explanation.json());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DeviceError("interrupted while kernels were measured");
    }
  }

  private static DeviceModel model(ExplainRequest request, Optional<TuningDevice> here) {
    if (request.model() != null) {
      return request.model();
    }
    DeviceModel usual = DeviceCatalogue.find(DEFAULT_DEVICE).orElseThrow();
    if (here.isEmpty()) {
      return usual;
    }
    TuningDevice gpu = here.get();
    return DeviceCatalogue.find(gpu.name())
        .or(
            () ->
                DeviceCatalogue.ALL.stream()
                    .filter(model -> model.target() == gpu.target())
                    .findFirst())
        .orElse(usual);
  }

  private static TunedGemm winner(
      ExplainRequest request, DeviceModel model, Optional<TuningDevice> here, Progress progress) {
    Environment environment = here.map(TuningDevice::environment).orElse(null);
    try (TuningDatabase database = TuningStore.open(request.database(), progress)) {
      GemmChooser chooser =
          new GemmChooser(
              new GemmChooser.Where(model.target(), environment, model.sms()),
              database,
              KernelCheck.system(),
              RejectedKernels.system());
      return request.untuned()
          ? chooser.chooseUntuned(request.workload())
          : chooser.choose(request.workload());
    }
  }

  private static Path write(ExplainRequest request, DeviceModel model, Explanation explanation) {
    Path parent =
        request.folder() == null ? TuningFiles.dataFolder().resolve("tuned") : request.folder();
    Path folder = parent.resolve(WinnerFiles.folderName(request.workload().key(), model.target()));
    WinnerFiles.makeFolder(folder);
    Path file = folder.resolve("explain.json");
    byte[] text = (explanation.json().write() + "\n").getBytes(StandardCharsets.UTF_8);
    AtomicFile.write(file, out -> out.write(text));
    return file;
  }
}
