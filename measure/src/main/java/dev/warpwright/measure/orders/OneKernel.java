package dev.warpwright.measure.orders;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.perf.grid.GridRun;
import dev.warpwright.perf.grid.PersistentGrid;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.FfnWorkload;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A feed-forward block's two GEMMs as one persistent kernel, as it is expected to go: beside the
 * launches that the planner takes.
 *
 * @param waves how often tiles of both GEMMs fill the SMs
 */
public record OneKernel(WorkOrder order, WaitPolicy waits, double waves, GridRun run) {
  /** More tiles than this are not played while a plan is made. */
  private static final int MOST_TILES = 1 << 14;

  /**
   * The orders that there are kernels of, the fastest first; none where the GEMMs are no such block
   * or the device has no such kernel.
   *
   * @param gemms of a network, in order
   * @param waits for what a tile of the second one waits
   */
  public static List<OneKernel> of(List<GemmWorkload> gemms, WaitPolicy waits, DeviceModel device) {
    Optional<FfnWorkload> block = block(gemms);
    if (block.isEmpty() || !device.target().hasHopper()) {
      return List.of();
    }
    List<OneKernel> kernels = new ArrayList<>();
    for (WorkOrder order : WorkOrder.values()) {
      try {
        PersistentGrid grid = ChainKernels.grid(block.get(), order, waits, device).orElse(null);
        if (grid != null && grid.order().size() <= MOST_TILES) {
          double waves = grid.order().size() / (double) grid.blocks();
          kernels.add(new OneKernel(order, waits, waves, grid.run()));
        }
      } catch (UserError e) {
        // Too large to be played.
        return List.of();
      }
    }
    kernels.sort(Comparator.comparingDouble(kernel -> kernel.run().timeUs()));
    return List.copyOf(kernels);
  }

  /** What it is expected to take. */
  public double micros() {
    return run.timeUs();
  }

  /** Whether a network's GEMMs, in order, are such a block's. */
  public static boolean isBlock(List<GemmWorkload> gemms) {
    return block(gemms).isPresent();
  }

  private static Optional<FfnWorkload> block(List<GemmWorkload> gemms) {
    if (gemms.size() != 2) {
      return Optional.empty();
    }
    GemmWorkload first = gemms.getFirst();
    GemmWorkload second = gemms.getLast();
    boolean fits =
        first.epilogue().equals(new Epilogue(1, 0, false, Activation.GELU))
            && second.epilogue().equals(Epilogue.NONE)
            && first.layout() == GemmWorkload.Layout.NT
            && second.layout() == GemmWorkload.Layout.NT
            && second.m() == first.m()
            && second.k() == first.n()
            && first.result() == first.operands()
            && second.operands() == first.operands();
    return fits
        ? Optional.of(
            new FfnWorkload(
                first.m(), first.k(), first.n(), second.n(), first.operands(), second.result()))
        : Optional.empty();
  }

  /**
   * One line.
   *
   * @param apartUs what the launches are expected to take that the planner chooses
   */
  public String text(double apartUs) {
    return String.format(
        Locale.ROOT,
        "one kernel, order=%s wait=%s: 1 launch, %.1f MB, L2 hits %.0f %%, %.2f waves, %.1f us"
            + " expected, blocks wait %.0f %% of it and SMs have nothing left %.0f %%; %s",
        order.text(),
        waits.text(),
        run.dramBytes() / 1e6,
        100 * run.hitRate(),
        waves,
        run.timeUs(),
        100 * run.waiting(),
        100 * run.idle(),
        run.deadlock() != null
            ? "deadlock: " + run.deadlock()
            : Double.isNaN(apartUs)
                ? "nothing to compare it with"
                : run.timeUs() < apartUs
                    ? "not chosen all the same, such predictions were 20 % off where measured"
                    : String.format(
                        Locale.ROOT, "%.2f times as long as apart", run.timeUs() / apartUs));
  }

  /** The same. */
  public Json json() {
    return Json.object()
        .with("order", order.text())
        .with("wait", waits.text())
        .with("bytes", run.dramBytes())
        .with("hitRate", run.hitRate())
        .with("waves", waves)
        .with("expectedUs", run.timeUs())
        .with("waiting", run.waiting())
        .with("idle", run.idle())
        .with("deadlock", run.deadlock());
  }
}
