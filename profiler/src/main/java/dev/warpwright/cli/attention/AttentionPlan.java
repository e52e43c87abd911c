package dev.warpwright.cli.attention;

import dev.warpwright.base.json.Json;
import dev.warpwright.cli.output.Figure;
import dev.warpwright.cli.output.Report;
import dev.warpwright.families.attention.AttentionConfig;
import dev.warpwright.families.attention.AttentionKernels;
import dev.warpwright.families.attention.AttentionModel;
import dev.warpwright.families.attention.AttentionModel.Expected;
import dev.warpwright.families.attention.ProjectedAttention;
import dev.warpwright.families.tuned.TunedAttention;
import dev.warpwright.ir.Kernel;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import dev.warpwright.workload.Attention;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Tells how attention is computed, and what other ways are expected to take. */
public final class AttentionPlan {
  /** Ways that are told of. */
  private static final int OTHERS = 8;

  private AttentionPlan() {}

  /** The launches of an attention. */
  public static Report plan(AttentionTask task, GpuTarget target) {
    Attention attention = task.attention();
    DeviceModel device = AttentionTask.device(target);
    if (task.features() > 0) {
      return projected(task.projected(target), device);
    }
    AttentionTask.Chosen chosen = task.chosen(target);
    AttentionKernels kernels = AttentionKernels.of(attention, chosen.config(), target);
    Expected expected = AttentionModel.predict(attention, kernels.config(), device);
    List<String> lines = new ArrayList<>();
    lines.add(attention.text() + " for " + target.name());
    for (Kernel kernel : kernels.kernels()) {
      lines.add("  " + kernel.name() + ": " + what(kernels, kernel));
    }
    lines.add("  " + kernels.config().text() + "; " + text(kernels.attention(), expected, device));
    chosen
        .measured()
        .ifPresent(
            best ->
                lines.add(
                    String.format(
                        Locale.ROOT,
                        "  the fastest of the records: %s us on %s",
                        Figure.number(best.micros()),
                        best.device())));
    Json.Members json =
        json(attention, target)
            .with("config", kernels.config().text())
            .with("measuredUs", chosen.measured().map(TunedAttention::micros).orElse(Double.NaN))
            .with("kernels", Json.array(kernels.kernels(), kernel -> json(kernels, kernel)))
            .with("device", device.name())
            .with("predictedUs", expected.micros())
            .with("bytes", expected.bytes());
    return new Report(true, String.join(System.lineSeparator(), lines), json);
  }

  private static Report projected(ProjectedAttention projected, DeviceModel device) {
    Attention attention = projected.attention();
    AttentionConfig config = projected.config().combined(AttentionConfig.Combine.LAST);
    Kernel kernel = projected.kernel();
    int shared = KernelResources.of(kernel).sharedBytes();
    double bytes = attention.bytes() + projected.bytes();
    double micros =
        AttentionModel.predict(attention, config, device).micros()
            + projected.bytes() / (device.dramGBs() * 1e3);
    String what =
        String.format(
            Locale.ROOT,
            "%d blocks at once, keys in %d parts, combined by the last one that is done; then %d"
                + " rows of W a block, %d bytes of shared memory",
            projected.blocks(),
            config.splits(),
            projected.share(),
            shared);
    String text =
        String.format(
            Locale.ROOT,
            "%s project=%d for %s%n  %s: %s%n  %s; %s us expected on an %s (nothing of its kind was"
                + " measured)",
            attention.text(),
            projected.features(),
            projected.target().name(),
            kernel.name(),
            what,
            projected.config().text(),
            Figure.number(micros),
            device.name());
    Json.Members of =
        Json.object()
            .with("name", kernel.name())
            .with("threads", kernel.threadsPerBlock())
            .with("sharedBytes", shared)
            .with("what", what);
    return new Report(
        true,
        text,
        json(attention, projected.target())
            .with("config", projected.config().text())
            .with("kernels", Json.array(List.of(of), each -> each))
            .with("device", device.name())
            .with("predictedUs", micros)
            .with("bytes", bytes));
  }

  private static String what(AttentionKernels kernels, Kernel kernel) {
    AttentionConfig config = kernels.config();
    Attention attention = kernels.attention();
    if (kernel != kernels.kernels().getFirst()) {
      return String.format(
          Locale.ROOT,
          "combines %d parts of %d rows, a row a block",
          config.splits(),
          attention.rows() * attention.heads());
    }
    return String.format(
        Locale.ROOT,
        "%d rows a block of %d heads x %d tokens, keys %s by %d%s%s, %d bytes of shared memory",
        config.tileRows(),
        attention.group(),
        attention.tokens(),
        config.splits() == 1
            ? "whole"
            : "in "
                + config.splits()
                + switch (config.combine()) {
                  case LAUNCH -> " parts";
                  case CLUSTER -> " parts of a cluster";
                  case LAST -> " parts, combined by the last one that is done,";
                },
        config.tileKeys(),
        attention.isPaged() ? " through the table of pages" : "",
        config.stages() == 1 ? "" : " through a ring of " + config.stages() + " stages",
        KernelResources.of(kernel).sharedBytes());
  }

  private static String text(Attention attention, Expected expected, DeviceModel device) {
    return String.format(
        Locale.ROOT,
        "%d blocks, %d at a time on each of %d SMs; %s us expected on an %s%s",
        expected.blocks(),
        expected.resident(),
        device.sms(),
        Figure.number(expected.micros()),
        device.name(),
        !AttentionModel.isMeasured(attention, expected.config())
            ? " (nothing of its kind was measured)"
            : device.name().equals(AttentionModel.FITTED)
                ? ""
                : " (extrapolated from an " + AttentionModel.FITTED + ")");
  }

  private static Json.Members json(Attention attention, GpuTarget target) {
    return Json.object().with("workload", attention.key().text()).with("target", target.name());
  }

  private static Json json(AttentionKernels kernels, Kernel kernel) {
    return Json.object()
        .with("name", kernel.name())
        .with("threads", kernel.threadsPerBlock())
        .with("sharedBytes", KernelResources.of(kernel).sharedBytes())
        .with("what", what(kernels, kernel));
  }

  /** What each decision is worth: the way expected to be fastest beside others, one change each. */
  public static Report explain(AttentionTask task, DeviceModel device) {
    task.refuseProjection("explain");
    Attention attention = task.attention();
    List<Expected> ranked = AttentionModel.ranked(attention, device);
    AttentionConfig chosen = task.config() != null ? task.config() : ranked.getFirst().config();
    Expected best = AttentionModel.predict(attention, chosen, device);
    List<Expected> others =
        ranked.stream().filter(e -> differences(e.config(), chosen) == 1).limit(OTHERS).toList();
    List<String> lines = new ArrayList<>();
    lines.add(attention.text() + " on an " + device.name() + ", predicted");
    lines.add(line(best, best));
    others.forEach(other -> lines.add(line(other, best)));
    Json.Members json =
        json(attention, device.target())
            .with("device", device.name())
            .with("chosen", json(best))
            .with("others", Json.array(others, AttentionPlan::json));
    return new Report(true, String.join(System.lineSeparator(), lines), json);
  }

  private static String line(Expected expected, Expected best) {
    return String.format(
        Locale.ROOT,
        "  %-42s %9s us  %5.2fx",
        expected.config().text(),
        Figure.number(expected.micros()),
        expected.micros() / best.micros());
  }

  private static Json json(Expected expected) {
    return Json.object()
        .with("config", expected.config().text())
        .with("predictedUs", expected.micros())
        .with("bytes", expected.bytes())
        .with("blocks", expected.blocks());
  }

  private static int differences(AttentionConfig a, AttentionConfig b) {
    return (a.tileRows() == b.tileRows() ? 0 : 1)
        + (a.tileKeys() == b.tileKeys() ? 0 : 1)
        + (a.splits() == b.splits() ? 0 : 1)
        + (a.combine() == b.combine() ? 0 : 1)
        + (a.threads() == b.threads() ? 0 : 1)
        + (a.stages() == b.stages() ? 0 : 1)
        + (a.instruction() == b.instruction() ? 0 : 1)
        + (a.blocks() == b.blocks() ? 0 : 1);
  }
}
