package dev.warpwright.compiler;

import dev.warpwright.base.UserError;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.workload.Precision;

/**
 * An imported network, for no device yet.
 *
 * @param graph what is computed
 */
public record Model(Graph graph) {
  /**
   * {@return the network compiled in the precision of the file}
   *
   * @param device where it runs
   */
  public CompiledModel compile(Device device) {
    return compile(device, graph.precision());
  }

  /**
   * {@return the network compiled; on the CPU the kernels for a single row at once}
   *
   * @param device where it runs
   * @param precision what is computed in
   * @throws UserError if the device has no instructions for the precision
   */
  public CompiledModel compile(Device device, Precision precision) {
    return compile(device, precision, 1);
  }

  /**
   * {@return the network compiled}
   *
   * @param rows a row count whose kernels are made at once on the CPU, 0 for none; all others are
   *     made when they are first needed
   * @param device where it runs
   * @param precision what is computed in
   * @throws UserError if the device has no instructions for the precision, an argument is null, or
   *     {@code rows} is negative
   */
  public CompiledModel compile(Device device, Precision precision, int rows) {
    if (device == null) {
      throw new UserError("device is null; take Device.best() or new CpuDevice()");
    }
    if (precision == null) {
      throw new UserError("precision is null; leave it out for the file's");
    }
    if (rows < 0) {
      throw new UserError("rows = " + rows + ": it is 1 or more, or 0 to compile nothing yet");
    }
    CompiledModel compiled = new CompiledModel(graph, device, precision);
    if (device instanceof CpuDevice && rows > 0) {
      compiled.executable(rows);
    }
    return compiled;
  }
}
