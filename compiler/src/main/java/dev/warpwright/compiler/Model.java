package dev.warpwright.compiler;

import dev.warpwright.model.graph.Graph;
import dev.warpwright.workload.Precision;

/** An imported network, for no device yet. */
public record Model(Graph graph) {
  /** Compiles in the precision of the file. */
  public CompiledModel compile(Device device) {
    return compile(device, graph.precision());
  }

  /**
   * Compiles; on the CPU the kernels for a single row at once.
   *
   * @throws dev.warpwright.base.UserError if the device has no instructions for the precision
   */
  public CompiledModel compile(Device device, Precision precision) {
    return compile(device, precision, 1);
  }

  /**
   * Compiles.
   *
   * @param rows a row count whose kernels are made at once on the CPU, 0 for none; all others are
   *     made when they are first needed
   * @throws dev.warpwright.base.UserError if the device has no instructions for the precision
   */
  public CompiledModel compile(Device device, Precision precision, int rows) {
    CompiledModel compiled = new CompiledModel(graph, device, precision);
    if (device instanceof CpuDevice && rows > 0) {
      compiled.executable(rows);
    }
    return compiled;
  }
}
