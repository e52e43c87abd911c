package dev.warpwright.compiler.program;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.model.function.NetworkFunction.Update;
import dev.warpwright.networks.stages.StageGroup;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

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

  /**
   * A kernel that was made of a group, and has its parameters; of an output that is an input but
   * for some columns it takes the output in another shape.
   */
  public static KernelCall of(CompiledKernel compiled, StageGroup group) {
    if (!(group.stages().getLast() instanceof Update update)) {
      return new KernelCall(compiled, group.func().params(), List.of());
    }
    List<Param> arguments = new ArrayList<>(compiled.function().params());
    arguments.set(arguments.size() - 2, update.to());
    return new KernelCall(compiled, arguments, List.of());
  }

  /**
   * The names of a kernel's parameters that no launch writes.
   *
   * @param arguments for each of its parameters, in order; further ones are its own
   * @param constants of the program
   */
  public static Set<String> constants(
      Kernel kernel, List<? extends Param> arguments, Set<Buffer> constants) {
    Set<String> names = new HashSet<>();
    for (int i = 0; i < arguments.size(); i++) {
      if (arguments.get(i) instanceof Buffer buffer && constants.contains(buffer)) {
        names.add(kernel.params().get(i).name());
      }
    }
    return names;
  }
}
