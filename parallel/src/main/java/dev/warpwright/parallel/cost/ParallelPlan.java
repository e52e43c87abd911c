package dev.warpwright.parallel.cost;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.Device;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.predict.NetworkPrediction;
import dev.warpwright.compiler.predict.WideStrategy;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.parallel.program.ParallelCompiler;
import dev.warpwright.parallel.program.ParallelProgram;
import dev.warpwright.parallel.program.Way;
import dev.warpwright.perf.predict.Prediction;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One GPU, data parallel and tensor parallel beside each other, as the analytic model expects them.
 * That sums take SMs from the kernels that run beside them is not in it.
 *
 * @param estimates one GPU first
 */
public record ParallelPlan(int devices, Link link, List<Estimate> estimates) {
  /** Parts of rows that are tried. */
  private static final List<Integer> PARTS = List.of(1, 2, 4, 8);

  /** Fewer rows in a part read weights for too little. */
  private static final int LEAST_ROWS = 64;

  /** Of one GPU's time, what another GPU must leave to be worth it. */
  private static final double WORTH = 0.98;

  /**
   * What is expected of a way.
   *
   * @param way null for one GPU
   * @param parts of the rows
   * @param computeUs kernels of a device
   * @param sumUs sums over the devices, alone
   * @param totalUs both, as far as they do not overlap
   * @param sums how many
   * @param sentBytes that a device sends
   * @param refused why it cannot be; empty if it can
   * @param program that does it; null for one GPU, or if it cannot be
   */
  public record Estimate(
      String name,
      @Nullable Way way,
      int parts,
      double computeUs,
      double sumUs,
      double totalUs,
      int sums,
      long sentBytes,
      String refused,
      @Nullable ParallelProgram program) {
    /** What of the sums is seen: microseconds. */
    public double exposedUs() {
      return totalUs - computeUs;
    }

    public boolean isPossible() {
      return refused.isEmpty();
    }
  }

  public ParallelPlan {
    estimates = List.copyOf(estimates);
  }

  /**
   * A plan.
   *
   * @param device one of the devices, or one that stands for them
   * @throws UserError if the devices are no GPUs, or nothing is known of their speed
   */
  public static ParallelPlan of(
      Graph graph, Device device, Precision precision, int rows, ParallelRequest request) {
    int devices = request.devices();
    ParallelCompiler compiler = new ParallelCompiler(graph, device, precision, devices);
    Link link = request.link((GpuTarget) device.target());
    DeviceModel model =
        Prediction.device(device.name(), device.target())
            .orElseThrow(
                () ->
                    new UserError(
                        "--gpus "
                            + devices
                            + ": nothing is known of the speed of "
                            + device.name()));
    Maker maker = new Maker(device, model, link, rows);
    List<Estimate> all = new ArrayList<>();
    all.add(maker.one(graph, precision));
    if (request.allows(Way.DATA) && request.parts().orElse(1) == 1) {
      all.add(maker.estimate(compiler.data(rows)));
    }
    if (request.allows(Way.TENSOR)) {
      for (int parts : request.parts().isPresent() ? List.of(request.parts().getAsInt()) : PARTS) {
        if (parts > 1 && request.parts().isEmpty() && rows < parts * LEAST_ROWS) {
          break;
        }
        try {
          ParallelProgram program = compiler.tensor(rows, parts);
          // Kernels may take more rows than a part has: there are fewer parts, then.
          if (all.stream().noneMatch(e -> e.way() == Way.TENSOR && e.parts() == program.parts())) {
            all.add(maker.estimate(program));
          }
        } catch (UserError e) {
          all.add(
              new Estimate(
                  Way.TENSOR.text(),
                  Way.TENSOR,
                  parts,
                  0,
                  0,
                  0,
                  0,
                  0,
                  String.valueOf(e.getMessage()),
                  null));
          break;
        }
      }
    }
    return new ParallelPlan(devices, link, all);
  }

  /** The one that is expected to take the least; one GPU if several gain nothing to speak of. */
  public Estimate best() {
    Estimate least =
        estimates.stream()
            .filter(Estimate::isPossible)
            .min(Comparator.comparingDouble(Estimate::totalUs))
            .orElseThrow();
    Estimate one = estimates.getFirst();
    return least.totalUs() > WORTH * one.totalUs() ? one : least;
  }

  /**
   * The program for the devices that is expected to take the least.
   *
   * @throws UserError if there is none
   */
  public ParallelProgram program() {
    Optional<Estimate> least =
        estimates.stream()
            .filter(estimate -> estimate.program() != null)
            .min(Comparator.comparingDouble(Estimate::totalUs));
    if (least.isPresent() && least.get().program() instanceof ParallelProgram program) {
      return program;
    }
    throw new UserError(
        estimates.stream()
            .map(Estimate::refused)
            .filter(why -> !why.isEmpty())
            .findFirst()
            .orElse("data parallel has no parts of rows"));
  }

  /** Makes estimates. */
  private record Maker(Device device, DeviceModel model, Link link, int rows) {
    Estimate one(Graph graph, Precision precision) {
      try (CompiledModel compiled = new Model(graph).compile(device, precision, 0)) {
        double micros = micros(compiled.program(rows), rows);
        return new Estimate("one GPU", null, 1, micros, 0, micros, 0, 0, "", null);
      }
    }

    Estimate estimate(ParallelProgram program) {
      double computed = 0;
      double summed = 0;
      double all = 0;
      int sums = 0;
      long sent = 0;
      // When the last piece's sums of each part are formed: what the next piece waits for.
      double[] ready = new double[program.parts()];
      double links = 0;
      for (ParallelProgram.Piece piece : program.pieces()) {
        double micros = micros(piece.compiled(), program.partRows());
        for (int part = 0; part < program.parts(); part++) {
          computed = Math.max(computed, ready[part]) + micros;
          all += micros;
          for (long bytes : piece.sums()) {
            double sum = link.micros(bytes, program.devices());
            links = Math.max(links, computed) + sum;
            summed += sum;
            sums++;
            sent += Link.sent(bytes, program.devices());
          }
          ready[part] = Math.max(computed, links);
        }
      }
      double end = Math.max(computed, links);
      String name =
          program.parts() == 1
              ? program.way().text()
              : String.format(
                  Locale.ROOT, "%s, rows in %d parts", program.way().text(), program.parts());
      return new Estimate(
          name, program.way(), program.parts(), all, summed, end, sums, sent, "", program);
    }

    /** Kernels of one device; of GEMMs of the families as the planner weighs them. */
    private double micros(CompiledProgram program, int many) {
      if (program.fixedRows().isPresent()) {
        try (GemmKernels products = device.products()) {
          if (products != null) {
            return WideStrategy.of(program, products).getLast().micros();
          }
        }
      }
      return NetworkPrediction.of(program, many, model).micros();
    }
  }
}
