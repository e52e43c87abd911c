package dev.warpwright.compiler.program;

import dev.warpwright.ir.Program;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.function.Precision;
import dev.warpwright.target.Target;
import java.util.List;

/**
 * A network, compiled for a target.
 *
 * @param network the function that the program computes
 * @param program parameters: inputs, outputs, constants, then the row count
 * @param constants the constants in the layouts that the kernels want, in the order of the
 *     program's parameters
 * @param kernels in the order of their launches
 */
public record CompiledProgram(
    NetworkFunction network,
    Precision precision,
    Target target,
    Program program,
    List<PackedConstant> constants,
    List<CompiledKernel> kernels) {
  public CompiledProgram {
    constants = List.copyOf(constants);
    kernels = List.copyOf(kernels);
  }
}
