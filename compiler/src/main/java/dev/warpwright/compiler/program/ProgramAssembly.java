package dev.warpwright.compiler.program;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Program.Argument;
import dev.warpwright.ir.Program.BufferArgument;
import dev.warpwright.ir.Program.Launch;
import dev.warpwright.ir.Program.ProgramParam;
import dev.warpwright.ir.Program.Role;
import dev.warpwright.ir.Program.ScalarArgument;
import dev.warpwright.ir.Program.Step;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.model.function.Constant;
import dev.warpwright.model.function.NetworkFunction;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Puts kernels together to a program that launches them in order. */
final class ProgramAssembly {
  private ProgramAssembly() {}

  /**
   * The program.
   *
   * @param groups what each kernel was made from
   * @param kernels one for each group; a kernel's parameters are its group's, in order, constants
   *     perhaps in another layout
   */
  static Program assemble(
      NetworkFunction network,
      List<StageGroup> groups,
      List<Kernel> kernels,
      Map<Buffer, Buffer> packed) {
    List<ProgramParam> params = new ArrayList<>();
    Set<Buffer> known = new HashSet<>();
    for (Buffer input : network.inputs()) {
      params.add(new ProgramParam(Role.INPUT, input));
      known.add(input);
    }
    for (Buffer output : network.outputs()) {
      params.add(new ProgramParam(Role.OUTPUT, output));
      known.add(output);
    }
    for (Constant constant : network.constants()) {
      Buffer buffer = packed.getOrDefault(constant.buffer(), constant.buffer());
      params.add(new ProgramParam(Role.CONSTANT, buffer));
      known.add(constant.buffer());
    }
    params.add(new ProgramParam(Role.SCALAR, network.rows()));
    List<Buffer> workspace = new ArrayList<>();
    List<Step> steps = new ArrayList<>();
    for (int g = 0; g < groups.size(); g++) {
      List<Argument> arguments = new ArrayList<>();
      for (Param param : groups.get(g).func().params()) {
        switch (param) {
          case Buffer buffer -> {
            if (known.add(buffer)) {
              workspace.add(buffer);
            }
            arguments.add(new BufferArgument(packed.getOrDefault(buffer, buffer)));
          }
          case ScalarParam scalar -> arguments.add(new ScalarArgument(scalar.var()));
        }
      }
      steps.add(new Launch(kernels.get(g), arguments));
    }
    return new Program(network.func().name(), params, workspace, steps);
  }
}
