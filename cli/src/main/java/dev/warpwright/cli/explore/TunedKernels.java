package dev.warpwright.cli.explore;

import dev.warpwright.cli.kernels.CheckCounters;
import dev.warpwright.compiler.bench.BoundKernel;
import dev.warpwright.compiler.check.CounterPrediction;
import dev.warpwright.compiler.tune.GemmExplain;
import dev.warpwright.compiler.tune.GemmKeys;
import dev.warpwright.compiler.tune.GemmSpace;
import dev.warpwright.compiler.tune.ScheduleText;
import dev.warpwright.compiler.tune.TunedGemm;
import dev.warpwright.compiler.tune.WinnerFiles;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.explorer.Jobs;
import dev.warpwright.families.GemmWorkload;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.ir.DeviceError;
import dev.warpwright.ir.UserError;
import dev.warpwright.ir.json.Json;
import dev.warpwright.ir.json.JsonFields;
import dev.warpwright.ir.json.JsonParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.tune.record.WorkloadKey;
import dev.warpwright.tune.space.Candidate;
import dev.warpwright.tune.space.Point;
import dev.warpwright.tune.space.Rejected;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * The kernel of a tuning record: its schedule, what that is lowered to, what its decisions are
 * worth, and what the simulator counts.
 *
 * @param winners the folder of winners' folders, where {@code explain} leaves what it measured
 */
record TunedKernels(Path winners) {
  /** A record, made a kernel again. */
  private record Chosen(
      GemmWorkload workload, DeviceModel model, String device, Candidate candidate) {}

  private static Chosen chosen(Map<String, String> parameters) {
    String text = parameters.getOrDefault("workload", "");
    String device = parameters.getOrDefault("device", "");
    GemmWorkload workload;
    Point point;
    try {
      workload = GemmKeys.workload(WorkloadKey.parse(text));
      point = Point.parse(parameters.getOrDefault("point", ""));
    } catch (IllegalArgumentException e) {
      throw new UserError("this record is of a form that is not read any more", e);
    }
    DeviceModel model =
        DeviceCatalogue.find(device)
            .orElseThrow(() -> new UserError("its device is not in the catalogue"));
    try {
      Candidate candidate =
          GemmSpace.of(workload, model.target(), model.multiprocessors()).replay(point).candidate();
      if (candidate == null || !candidate.point().agrees(point)) {
        throw new UserError("these decisions are not possible any more");
      }
      return new Chosen(workload, model, device, candidate);
    } catch (Rejected e) {
      throw new UserError("these decisions are not possible any more: " + e.getMessage(), e);
    }
  }

  /** The kernel at every level, as text. */
  Json texts(Map<String, String> parameters) {
    Chosen chosen = chosen(parameters);
    DeviceModel model = chosen.model();
    ScheduledGemm scheduled =
        GemmSpace.schedule(
            chosen.workload(), model.target(), model.multiprocessors(), chosen.candidate().point());
    return Json.object()
        .with("schedule", ScheduleText.of(scheduled.trace()))
        .with("tiles", IrPrinter.text(scheduled.tiles()))
        .with("kernel", IrPrinter.text(chosen.candidate().kernel().get()))
        .with("cuda", CudaPrinter.print(bound(chosen).kernel(), model.target()));
  }

  private static BoundKernel bound(Chosen chosen) {
    return BoundKernel.of(chosen.candidate().kernel().get(), chosen.candidate().values());
  }

  /** What each decision is worth: as it was measured, if {@code explain} did, else as predicted. */
  Jobs.Work explain(Map<String, String> parameters) {
    Chosen chosen = chosen(parameters);
    return job -> {
      Json measured = measured(chosen);
      if (measured != null) {
        return measured.write();
      }
      var explain =
          new GemmExplain(
              chosen.workload(),
              chosen.model(),
              chosen.device(),
              line -> {
                if (job.cancelled()) {
                  throw new UserError("cancelled");
                }
                job.report(Json.of(line).write());
              });
      try {
        return explain
            .explain(new TunedGemm(chosen.candidate(), TunedGemm.Origin.TUNED), null)
            .json()
            .write();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new DeviceError("interrupted", e);
      }
    };
  }

  private @org.jspecify.annotations.Nullable Json measured(Chosen chosen) {
    Path file =
        winners
            .resolve(
                WinnerFiles.folderName(GemmKeys.of(chosen.workload()), chosen.model().target()))
            .resolve("explain.json");
    if (!Files.isRegularFile(file)) {
      return null;
    }
    try {
      Json json = JsonParser.parse(file.toString(), Files.readString(file));
      JsonFields fields = JsonFields.of(file.toString(), json);
      boolean same =
          fields.flag("measured")
              && fields.text("device").equals(chosen.device())
              && fields.object("winner").text("point").equals(chosen.candidate().point().text());
      return same ? json : null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What the simulator counts, for the whole product. */
  Jobs.Work counters(Map<String, String> parameters) {
    Chosen chosen = chosen(parameters);
    return job -> {
      job.report(Json.of("a part of the grid is simulated").write());
      return CheckCounters.json(
              CounterPrediction.product(bound(chosen).kernel(), Map.of(), chosen.model()))
          .write();
    };
  }
}
