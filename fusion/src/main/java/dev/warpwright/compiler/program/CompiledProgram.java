package dev.warpwright.compiler.program;

import dev.warpwright.ir.Program;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.target.Target;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.OptionalInt;

/**
 * A network, compiled for a target.
 *
 * @param network the function that the program computes
 * @param program parameters: inputs, outputs, constants, then the row count
 * @param constants the constants in the layouts that the kernels want, in the order of the
 *     program's parameters
 * @param kernels in the order of their launches
 * @param fixedRows the row count that the program is for, inputs with fewer rows being filled up;
 *     empty if it is for every one
 */
public record CompiledProgram(
    NetworkFunction network,
    Precision precision,
    Target target,
    Program program,
    List<PackedConstant> constants,
    List<CompiledKernel> kernels,
    OptionalInt fixedRows) {
  public CompiledProgram {
    constants = List.copyOf(constants);
    kernels = List.copyOf(kernels);
  }
}
