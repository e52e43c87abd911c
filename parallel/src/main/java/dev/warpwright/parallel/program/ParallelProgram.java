package dev.warpwright.parallel.program;

import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Program;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.parallel.split.TensorSplit;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.util.List;

/**
 * A network, compiled for several devices and one row count.
 *
 * @param graph what it computes
 * @param program that each device runs
 * @param rows that it is for
 * @param parts of the rows, launched one after the other; 1 for data parallel
 * @param partRows rows of a launch: of the buffers if there is one part. At least {@code rows /
 *     parts}, or of the rows of a device
 * @param inputs of the program, in the graph's order
 * @param outputs the same
 * @param constants of each device, in the order of the program's parameters
 * @param pieces what a device runs for each part, one after the other
 * @param layers which are split and how; empty for data parallel
 */
public record ParallelProgram(
    Graph graph,
    Way way,
    Precision precision,
    GpuTarget target,
    Program program,
    int rows,
    int parts,
    int partRows,
    List<Buffer> inputs,
    List<Buffer> outputs,
    List<List<PackedConstant>> constants,
    List<Piece> pieces,
    List<TensorSplit.Layer> layers) {
  /**
   * Kernels without a sum between them.
   *
   * @param compiled for one device and as many rows as a part has
   * @param sums what is added over the devices behind it, of a part's rows: bytes each
   */
  public record Piece(CompiledProgram compiled, List<Long> sums) {
    public Piece {
      sums = List.copyOf(sums);
    }
  }

  public ParallelProgram {
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
    constants = List.copyOf(constants);
    pieces = List.copyOf(pieces);
    layers = List.copyOf(layers);
  }

  public int devices() {
    return program.devices();
  }

  /** Whether anything is added over the devices. */
  public boolean sums() {
    return pieces.stream().anyMatch(piece -> !piece.sums().isEmpty());
  }

  /** The rows of a program's buffers. */
  public int height() {
    return parts * partRows;
  }

  /** The first row that a device computes, of all rows. */
  public int firstRow(int device) {
    return way == Way.TENSOR ? 0 : Math.min(rows, device * share());
  }

  /** How many rows a device computes; none where there are fewer rows than devices. */
  public int rowsOf(int device) {
    return way == Way.TENSOR ? rows : Math.min(share(), rows - firstRow(device));
  }

  private int share() {
    return Math.ceilDiv(rows, devices());
  }
}
