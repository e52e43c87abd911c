package dev.warpwright.parallel.program;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.Device;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Program;
import dev.warpwright.model.function.Constant;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.parallel.split.TensorSplit;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Compiles networks for several devices of a kind: pieces by the compiler for one, and how they
 * belong together.
 */
public final class ParallelCompiler {
  private final Graph graph;
  private final Device device;
  private final Precision precision;
  private final int devices;
  private @Nullable TensorSplit split;

  /**
   * A compiler.
   *
   * @param device one of the devices, or one that stands for them
   * @param devices how many, at least 2
   * @throws UserError if they are no GPUs, or too few
   */
  public ParallelCompiler(Graph graph, Device device, Precision precision, int devices) {
    if (!(device.target() instanceof GpuTarget)) {
      throw new UserError(
          "--gpus " + devices + ": the CPU is one device; give --target sim, or a GPU's");
    }
    if (devices < 2 || devices > MOST) {
      throw new UserError("--gpus " + devices + ": a number from 2 to " + MOST);
    }
    device.checkPrecision(precision);
    this.graph = graph;
    this.device = device;
    this.precision = precision;
    this.devices = devices;
  }

  /** GPUs of a host that NVLink joins, and twice as many. */
  private static final int MOST = 16;

  /** So many elements of 16 bits are 16 bytes. */
  private static final int ALIGNED_ROWS = 8;

  /** Each device takes its share of the rows. */
  public ParallelProgram data(int rows) {
    return data(rows, devices);
  }

  /** One device takes all, to be measured as the others are. */
  public ParallelProgram one(int rows) {
    return data(rows, 1);
  }

  private ParallelProgram data(int rows, int sharing) {
    CompiledProgram compiled = compile(graph, Math.ceilDiv(rows, sharing));
    int height = compiled.fixedRows().orElse(Math.ceilDiv(rows, sharing));
    ParallelAssembly assembly =
        new ParallelAssembly(graph, 1, height, sharing > 1, constant -> false);
    assembly.add(graph, compiled, Set.of());
    Program program = assembly.program(name(), sharing);
    List<List<PackedConstant>> constants = new ArrayList<>();
    for (int i = 0; i < sharing; i++) {
      constants.add(compiled.constants());
    }
    return new ParallelProgram(
        graph,
        Way.DATA,
        precision,
        (GpuTarget) device.target(),
        program,
        rows,
        1,
        height,
        assembly.inputs(),
        assembly.outputs(),
        constants,
        List.of(new ParallelProgram.Piece(compiled, List.of())),
        List.of());
  }

  /**
   * Each device takes a part of the layers.
   *
   * @param parts of the rows, so that the sums of one are formed while the next is computed; fewer
   *     where kernels take more rows than a part has
   * @throws UserError if the network has no layers that can be split, or no parts of rows
   */
  public ParallelProgram tensor(int rows, int parts) {
    if (parts < 1 || parts > rows) {
      throw new UserError("parts=" + parts + ": from 1 to as many as there are rows, " + rows);
    }
    if (split == null) {
      split = TensorSplit.of(graph, devices);
    }
    return tensor(split, rows, parts);
  }

  private ParallelProgram tensor(TensorSplit split, int rows, int parts) {
    int height = Math.ceilDiv(rows, parts);
    if (parts > 1) {
      // Rows of any width then begin where 16 bytes do.
      height = Math.ceilDiv(height, ALIGNED_ROWS) * ALIGNED_ROWS;
    }
    List<CompiledProgram> compiled = compile(split, height);
    int wanted = fixed(compiled, height);
    while (wanted != height) {
      // Kernels of some pieces are for certain row counts: all take as many.
      height = wanted;
      compiled = compile(split, height);
      wanted = fixed(compiled, height);
    }
    int number = Math.ceilDiv(rows, height);
    ParallelAssembly assembly =
        new ParallelAssembly(
            graph,
            number,
            height,
            false,
            constant -> split.isSharded(constant.constant().source()));
    List<ParallelProgram.Piece> pieces = new ArrayList<>();
    for (int i = 0; i < compiled.size(); i++) {
      TensorSplit.Piece piece = split.pieces().get(i);
      assembly.add(piece.graph(), compiled.get(i), piece.summed());
      pieces.add(new ParallelProgram.Piece(compiled.get(i), sums(piece, compiled.get(i), height)));
    }
    Program program = assembly.program(name(), devices);
    return new ParallelProgram(
        graph,
        Way.TENSOR,
        precision,
        (GpuTarget) device.target(),
        program,
        rows,
        number,
        height,
        assembly.inputs(),
        assembly.outputs(),
        constants(split, compiled),
        pieces,
        split.layers());
  }

  private String name() {
    return graph.name().isEmpty() ? "network" : graph.name();
  }

  private CompiledProgram compile(Graph piece, int rows) {
    try (CompiledModel model = new Model(piece).compile(device, precision, 0)) {
      return model.program(rows);
    }
  }

  private List<CompiledProgram> compile(TensorSplit split, int rows) {
    return split.pieces().stream().map(piece -> compile(piece.graph(), rows)).toList();
  }

  private static int fixed(List<CompiledProgram> compiled, int rows) {
    return compiled.stream().mapToInt(c -> c.fixedRows().orElse(rows)).max().orElse(rows);
  }

  private static List<Long> sums(TensorSplit.Piece piece, CompiledProgram compiled, int rows) {
    List<Long> bytes = new ArrayList<>();
    for (int i = 0; i < piece.graph().outputs().size(); i++) {
      if (piece.summed().contains(piece.graph().outputs().get(i))) {
        Buffer output = compiled.network().outputs().get(i);
        bytes.add(rows * output.extent(1) * output.dtype().bytes());
      }
    }
    return bytes;
  }

  private List<List<PackedConstant>> constants(TensorSplit split, List<CompiledProgram> compiled) {
    List<List<PackedConstant>> all = new ArrayList<>();
    for (int i = 0; i < devices; i++) {
      int number = i;
      all.add(
          compiled.stream()
              .flatMap(program -> program.constants().stream())
              .map(constant -> ofDevice(split, constant, number))
              .toList());
    }
    return all;
  }

  private static PackedConstant ofDevice(TensorSplit split, PackedConstant packed, int device) {
    Constant constant = packed.constant();
    return new PackedConstant(
        packed.buffer(),
        packed.where(),
        new Constant(
            constant.buffer(), split.ofDevice(constant.source(), device), constant.transposed()));
  }
}
