package dev.warpwright.compiler.program;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Param;
import dev.warpwright.networks.stages.StageGroup;
import java.util.List;

/**
 * A launch of a program.
 *
 * @param compiled the kernel
 * @param arguments for each of the kernel's parameters, in order: a buffer of the network or a
 *     scratch buffer, or the row count
 * @param zeroed arguments that are zero before the launch
 */
public record KernelCall(CompiledKernel compiled, List<Param> arguments, List<Buffer> zeroed) {
  public KernelCall {
    arguments = List.copyOf(arguments);
    zeroed = List.copyOf(zeroed);
  }

  /** A kernel that was made of a group, and has its parameters. */
  public static KernelCall of(CompiledKernel compiled, StageGroup group) {
    return new KernelCall(compiled, group.func().params(), List.of());
  }
}
