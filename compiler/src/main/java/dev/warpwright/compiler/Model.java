package dev.warpwright.compiler;

import dev.warpwright.model.function.Precision;
import dev.warpwright.model.graph.Graph;

/** An imported network, for no device yet. */
public record Model(Graph graph) {
  /** Compiles in the precision of the file. */
  public CompiledModel compile(Device device) {
    return compile(device, Precision.of(graph));
  }

  /**
   * Compiles.
   *
   * @throws dev.warpwright.ir.UserError if the device has no instructions for the precision
   */
  public CompiledModel compile(Device device, Precision precision) {
    return new CompiledModel(graph, device, precision);
  }
}
