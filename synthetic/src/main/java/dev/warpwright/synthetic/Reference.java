package dev.warpwright.synthetic;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.function.Constant;
import dev.warpwright.model.function.FunctionOptions;
import dev.warpwright.model.function.NetworkBuilder;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.List;

/**
 * What a network should compute: its unscheduled, unpadded function, executed by the interpreter in
 * double precision with the weights of the file.
 */
public final class Reference {
  private final NetworkFunction network;
  private final Interpreter interpreter;

  /**
   * Of a network.
   *
   * @param graph what is computed
   */
  public Reference(Graph graph) {
    network = NetworkBuilder.build(graph, new FunctionOptions(Precision.F32, 1, false, true));
    interpreter = Interpreter.of(network.func(), Options.DOUBLE);
  }

  /** {@return multiply-adds for one row} */
  public long work() {
    return network.products().stream().mapToLong(product -> product.n() * product.k()).sum();
  }

  /**
   * The outputs.
   *
   * @param inputs [rows, features] each
   * @param rows the row count, 1 or more
   * @return [rows, features] each, in the order of the graph's outputs
   */
  public List<double[]> outputs(int rows, List<float[]> inputs) {
    Arguments arguments = bind(network, rows, DType.F64);
    for (int i = 0; i < inputs.size(); i++) {
      Buffer buffer = network.inputs().get(i);
      arguments.bind(buffer, NdArray.ofFloats(inputs.get(i), rows, buffer.extent(1)));
    }
    interpreter.run(arguments);
    List<double[]> result = new ArrayList<>();
    for (Buffer output : network.outputs()) {
      result.add(arguments.get(output).toDoubles());
    }
    return result;
  }

  /** Arguments with the constants filled in and poisoned outputs of the given type. */
  static Arguments bind(NetworkFunction network, int rows, DType outputType) {
    List<Param> params = network.func().params();
    Arguments arguments = Arguments.of(params);
    for (Buffer output : network.outputs()) {
      arguments.bind(output, NdArray.zeros(outputType, rows, output.extent(1)).poison());
    }
    for (Constant constant : network.constants()) {
      arguments.bind(constant.buffer(), NdArray.of(constant.buffer()).fillWith(constant::element));
    }
    return arguments.bind(network.rows().var(), rows);
  }
}
