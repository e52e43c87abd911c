package dev.warpwright.measure.fake;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.NdArray;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Executes a kernel of the fake GPU by the simulator, on its memory. */
final class KernelRunner {
  private final Kernel kernel;
  private @Nullable GridInterpreter interpreter;

  KernelRunner(Kernel kernel) {
    this.kernel = kernel;
  }

  /** The arguments of a launch: addresses of buffers, values of scalars. */
  List<Object> arguments(long parameters) {
    List<Object> arguments = new ArrayList<>();
    List<Param> params = kernel.params();
    for (int i = 0; i < params.size(); i++) {
      long pointer = FakeGpu.at(parameters, 8L * params.size()).get(JAVA_LONG, 8L * i);
      boolean isInt =
          params.get(i) instanceof ScalarParam scalar && scalar.var().type().dtype().bytes() == 4;
      arguments.add(
          isInt
              ? (Object) FakeGpu.at(pointer, 4).get(JAVA_INT, 0)
              : (Object) FakeGpu.at(pointer, 8).get(JAVA_LONG, 0));
    }
    return arguments;
  }

  void run(List<Object> arguments) {
    Arguments bound = Arguments.of(kernel.params());
    List<Param> params = kernel.params();
    // Extents may be scalars: those come first.
    for (int i = 0; i < params.size(); i++) {
      if (params.get(i) instanceof ScalarParam scalar) {
        bound.bind(scalar.var(), (Number) arguments.get(i));
      }
    }
    List<NdArray> arrays = new ArrayList<>();
    List<Long> addresses = new ArrayList<>();
    for (int i = 0; i < params.size(); i++) {
      if (params.get(i) instanceof Buffer buffer) {
        NdArray array =
            NdArray.of(
                buffer,
                buffer.shape().stream()
                    .mapToLong(extent -> bound.evaluate(extent).longValue())
                    .toArray());
        long address = (Long) arguments.get(i);
        array.segment().copyFrom(FakeGpu.at(address, array.segment().byteSize()));
        bound.bind(buffer, array);
        arrays.add(array);
        addresses.add(address);
      }
    }
    if (interpreter == null) {
      interpreter = new GridInterpreter(kernel, GridOptions.DEFAULT.withoutRaces());
    }
    interpreter.run(bound);
    for (int i = 0; i < arrays.size(); i++) {
      FakeGpu.at(addresses.get(i), arrays.get(i).segment().byteSize())
          .copyFrom(arrays.get(i).segment());
    }
  }

  /** Zeros in the last buffer of a kernel without scalars. */
  void clearLast(List<Object> arguments) {
    Buffer last = kernel.buffers().getLast();
    FakeGpu.at(
            (Long) arguments.get(kernel.params().indexOf(last)),
            NdArray.of(last).segment().byteSize())
        .fill((byte) 0);
  }
}
