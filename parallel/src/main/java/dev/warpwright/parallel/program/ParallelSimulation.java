package dev.warpwright.parallel.program;

import dev.warpwright.compiler.execute.SimulatedExecutable;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.ir.Buffer;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.ProgramInterpreter;
import dev.warpwright.sim.api.Finding;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A program for several devices in the interpreter, with its checks: a memory each. */
public final class ParallelSimulation {
  private final ParallelProgram parallel;
  private final ProgramInterpreter interpreter;
  private final List<List<NdArray>> constants = new ArrayList<>();

  /**
   * A simulation.
   *
   * @param order of blocks and warps
   */
  public ParallelSimulation(ParallelProgram parallel, GridOptions order) {
    this.parallel = parallel;
    this.interpreter =
        new ProgramInterpreter(
            parallel.program(), order.withTarget(parallel.target()), Options.CHECKED);
    for (List<PackedConstant> own : parallel.constants()) {
      constants.add(own.stream().map(SimulatedExecutable::packed).toList());
    }
  }

  /** In the usual order. */
  public ParallelSimulation(ParallelProgram parallel) {
    this(parallel, GridOptions.DEFAULT);
  }

  /**
   * What a run gave.
   *
   * @param outputs [rows, features] each, in the graph's order
   * @param findings what was done that must not be
   */
  public record Result(List<float[]> outputs, List<Finding> findings) {}

  /**
   * Runs.
   *
   * @param inputs [rows, features] each, in the graph's order
   */
  public Result run(List<float[]> inputs) {
    List<Arguments> devices = new ArrayList<>();
    for (int device = 0; device < parallel.devices(); device++) {
      devices.add(arguments(device, inputs));
    }
    List<Finding> findings = new ArrayList<>(interpreter.check(devices));
    List<float[]> outputs = new ArrayList<>();
    for (Buffer output : parallel.outputs()) {
      outputs.add(gathered(output, devices, findings));
    }
    return new Result(outputs, findings);
  }

  private Arguments arguments(int device, List<float[]> inputs) {
    Arguments arguments = Arguments.of(ProgramInterpreter.params(parallel.program()));
    for (int i = 0; i < parallel.inputs().size(); i++) {
      Buffer buffer = parallel.inputs().get(i);
      int width = Math.toIntExact(buffer.extent(1));
      int first = parallel.firstRow(device) * width;
      float[] own =
          Arrays.copyOfRange(inputs.get(i), first, first + parallel.rowsOf(device) * width);
      float[] filled = Arrays.copyOf(own, parallel.height() * width);
      arguments.bind(buffer, NdArray.ofFloats(filled, parallel.height(), width).to(buffer.dtype()));
    }
    parallel.outputs().forEach(output -> arguments.bind(output, NdArray.of(output).poison()));
    for (int i = 0; i < constants.get(device).size(); i++) {
      arguments.bind(
          parallel.constants().get(device).get(i).buffer(), constants.get(device).get(i));
    }
    return arguments;
  }

  /** The rows of all devices, or of the first one if all have the same. */
  private float[] gathered(Buffer output, List<Arguments> devices, List<Finding> findings) {
    int width = Math.toIntExact(output.extent(1));
    float[] all = new float[parallel.rows() * width];
    for (int device = 0; device < devices.size(); device++) {
      NdArray own = devices.get(device).get(output);
      if (parallel.way() == Way.TENSOR && device > 0) {
        long place = devices.getFirst().get(output).difference(own);
        if (place >= 0) {
          findings.add(
              new Finding(
                  Finding.Kind.RESULT,
                  parallel.program().name(),
                  0,
                  "",
                  "",
                  output.name() + Arrays.toString(own.coordinates(place)),
                  "device " + device + " has another value than device 0"));
        }
        continue;
      }
      System.arraycopy(
          own.toFloats(),
          0,
          all,
          parallel.firstRow(device) * width,
          parallel.rowsOf(device) * width);
    }
    return all;
  }
}
