package dev.warpwright.cli.explore;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.base.json.JsonFields;
import dev.warpwright.base.json.JsonParser;
import dev.warpwright.cli.kernels.LoweringSteps;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.explorer.Jobs;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.families.tuned.TunedGemm;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.measure.tuning.GemmExplain;
import dev.warpwright.measure.tuning.WinnerFiles;
import dev.warpwright.schedule.trace.ScheduleText;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.api.KernelCounters;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.Rejected;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.WorkloadKey;
import dev.warpwright.workload.kernel.BoundKernel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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
      workload = GemmWorkload.of(WorkloadKey.parse(text));
      point = Point.parse(parameters.getOrDefault("point", ""));
    } catch (IllegalArgumentException e) {
      throw new UserError("this record is of a form that is not read any more", e);
    }
    DeviceModel model =
        DeviceCatalogue.find(device)
            .orElseThrow(() -> new UserError("its device is not in the catalogue"));
    try {
      Candidate candidate =
          GemmSpace.of(workload, model.target(), model.sms()).replay(point).candidate();
      if (candidate == null || !candidate.point().agrees(point)) {
        throw new UserError("these decisions are not possible any more");
      }
      return new Chosen(workload, model, device, candidate);
    } catch (Rejected e) {
      throw new UserError("these decisions are not possible any more: " + e.getMessage(), e);
    }
  }

  /** The kernel at every level and after every pass that changes something, as text. */
  Json texts(Map<String, String> parameters) {
    Chosen chosen = chosen(parameters);
    DeviceModel model = chosen.model();
    ScheduledGemm scheduled =
        GemmSpace.schedule(
            chosen.workload(), model.target(), model.sms(), chosen.candidate().point());
    return Json.object()
        .with("schedule", ScheduleText.of(scheduled.trace()))
        .with("tiles", IrPrinter.text(scheduled.tiles()))
        .with(
            "passes",
            Json.array(
                LoweringSteps.of(scheduled.tiles(), model.target()),
                step -> Json.object().with("pass", step.pass()).with("text", step.text())))
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

  private @Nullable Json measured(Chosen chosen) {
    Path file =
        winners
            .resolve(WinnerFiles.folderName(chosen.workload().key(), chosen.model().target()))
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

  /** What the simulator counts for one cluster's tile and two steps along K. */
  Jobs.Work counters(Map<String, String> parameters) {
    Chosen chosen = chosen(parameters);
    Point point = chosen.candidate().point();
    String cluster = option(point, "cluster", "1x1");
    int cross = cluster.indexOf('x');
    int clusterM = Integer.parseInt(cluster.substring(0, cross));
    int clusterN = Integer.parseInt(cluster.substring(cross + 1));
    GemmWorkload whole = chosen.workload();
    var small =
        new GemmWorkload(
            Long.parseLong(option(point, "tileM", "64")) * clusterM,
            Long.parseLong(option(point, "tileN", "64")) * clusterN,
            Long.parseLong(option(point, "tileK", "64")) * 2,
            whole.precision(),
            whole.result(),
            whole.layout(),
            whole.epilogue());
    return job -> {
      Candidate candidate =
          GemmSpace.of(small, chosen.model().target(), clusterM * clusterN)
              .replay(point.with("order", "row"))
              .candidate();
      if (candidate == null) {
        throw new UserError("one tile alone has no such kernel, so nothing can be counted");
      }
      BoundKernel bound = BoundKernel.of(candidate.kernel().get(), candidate.values());
      try {
        KernelCounters counted =
            new GridInterpreter(bound.kernel(), GridOptions.counting(clusterM * clusterN))
                .count(KernelData.of(bound, 1), KernelCounters.Caches.H200);
        return json(small, counted).write();
      } catch (SimulationError e) {
        throw new UserError("the simulator found: " + e.getMessage(), e);
      }
    };
  }

  private static String option(Point point, String name, String otherwise) {
    String option = point.option(name);
    return option == null ? otherwise : option;
  }

  private static Json json(GemmWorkload small, KernelCounters c) {
    return Json.object()
        .with("work", String.format(Locale.ROOT, "%d x %d x %d", small.m(), small.n(), small.k()))
        .with(
            "counters",
            Json.object()
                .with("shared loads, wavefronts", c.sharedLoads().units())
                .with("shared stores, wavefronts", c.sharedStores().units())
                .with("ldmatrix, wavefronts", c.matrixLoads().units())
                .with("stmatrix, wavefronts", c.matrixStores().units())
                .with(
                    "lost to bank conflicts",
                    c.sharedLoads().lost()
                        + c.sharedStores().lost()
                        + c.matrixLoads().lost()
                        + c.matrixStores().lost())
                .with("bulk loads, sectors", c.bulkLoadSectors())
                .with("bulk stores, sectors", c.bulkStoreSectors())
                .with("cp.async, sectors", c.asyncLoads().units())
                .with("global loads, sectors", c.globalLoads().units())
                .with("global stores, sectors", c.globalStores().units())
                .with("L2 reads, sectors", c.l2ReadSectors())
                .with("L2 writes, sectors", c.l2WriteSectors())
                .with("multiply-adds of tensor cores", c.matrixMultiplyAdds()))
        .with(
            "statements",
            Json.array(
                c.statements(),
                s ->
                    Json.object()
                        .with("line", s.line())
                        .with("statement", s.statement())
                        .with("what", s.what())
                        .with("requests", s.requests().count())
                        .with("units", s.requests().units())
                        .with("lost", s.requests().lost())));
  }
}
