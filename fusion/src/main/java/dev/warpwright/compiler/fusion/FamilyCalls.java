package dev.warpwright.compiler.fusion;

import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.KernelCall;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.function.Constant;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * Calls of the families' kernels in a network's program: their operands are its buffers, their
 * tables its constants, their workspaces its scratch memory.
 *
 * @param constants of the program, to which tables are added
 */
record FamilyCalls(List<PackedConstant> constants) {
  /** The tables of a kernel as constants, each changed so. */
  Map<Buffer, Buffer> tables(BoundKernel bound, UnaryOperator<List<Integer>> change) {
    Map<Buffer, Buffer> tables = new HashMap<>();
    bound
        .contents()
        .forEach(
            (formal, content) -> {
              if (content instanceof BoundKernel.Content.Table(List<Integer> values)) {
                tables.put(formal, table(change.apply(values)));
              }
            });
    return tables;
  }

  private Buffer table(List<Integer> values) {
    String name = "table" + constants.size();
    Buffer buffer = Buffer.of(name, DType.I32, Scope.GLOBAL, (long) values.size());
    ConstantTensor source =
        ConstantTensor.ofLongs(
            name,
            List.of((long) values.size()),
            values.stream().mapToLong(Integer::longValue).toArray());
    constants.add(PackedConstant.plain(new Constant(buffer, source, false)));
    return buffer;
  }

  /**
   * A call.
   *
   * @param operands by the names of the kernel's parameters
   * @param tables of {@link #tables}
   */
  static KernelCall call(
      CompiledKernel compiled,
      BoundKernel bound,
      Map<String, Buffer> operands,
      Map<Buffer, Buffer> tables) {
    List<Param> arguments = new ArrayList<>();
    List<Buffer> zeroed = new ArrayList<>();
    bound
        .contents()
        .forEach(
            (formal, content) -> {
              Buffer actual =
                  switch (content) {
                    case BoundKernel.Content.Table _ -> Objects.requireNonNull(tables.get(formal));
                    case BoundKernel.Content.Random _ -> operand(operands, formal);
                    case BoundKernel.Content.Poison _ ->
                        operands.getOrDefault(formal.name(), scratch(formal));
                    case BoundKernel.Content.Zero _ -> scratch(formal);
                  };
              if (content instanceof BoundKernel.Content.Zero) {
                zeroed.add(actual);
              }
              arguments.add(actual);
            });
    return new KernelCall(compiled, arguments, zeroed);
  }

  private static Buffer operand(Map<String, Buffer> operands, Buffer formal) {
    Buffer buffer = operands.get(formal.name());
    if (buffer == null) {
      throw new IllegalStateException("a GEMM's kernel reads " + formal.name());
    }
    return buffer;
  }

  private static Buffer scratch(Buffer formal) {
    return new Buffer(
        formal.name(),
        formal.dtype(),
        formal.shape(),
        formal.scope(),
        formal.layout(),
        formal.alignment());
  }
}
