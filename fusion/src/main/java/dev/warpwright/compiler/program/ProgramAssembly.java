package dev.warpwright.compiler.program;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Program.Argument;
import dev.warpwright.ir.Program.BufferArgument;
import dev.warpwright.ir.Program.Carry;
import dev.warpwright.ir.Program.Launch;
import dev.warpwright.ir.Program.Memset;
import dev.warpwright.ir.Program.ProgramParam;
import dev.warpwright.ir.Program.Role;
import dev.warpwright.ir.Program.ScalarArgument;
import dev.warpwright.ir.Program.Step;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.model.function.NetworkFunction;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Puts kernels together to a program that launches them in order. */
public final class ProgramAssembly {
  private ProgramAssembly() {}

  /**
   * The program.
   *
   * @param calls the launches, in order
   * @param packed constants of the network that kernels take in another layout, and that layout
   * @param constants in the layouts that kernels take, in order
   */
  public static Program assemble(
      NetworkFunction network,
      List<KernelCall> calls,
      Map<Buffer, Buffer> packed,
      List<Buffer> constants) {
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
    for (Buffer constant : constants) {
      params.add(new ProgramParam(Role.CONSTANT, constant));
      known.add(constant);
    }
    known.addAll(packed.keySet());
    params.add(new ProgramParam(Role.SCALAR, network.rows()));
    List<Buffer> workspace = new ArrayList<>();
    List<Step> steps = new ArrayList<>();
    network.updates().forEach(update -> steps.add(new Carry(update.input(), update.to())));
    for (KernelCall call : calls) {
      List<Argument> arguments = new ArrayList<>();
      for (Param param : call.arguments()) {
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
      call.zeroed().forEach(buffer -> steps.add(new Memset(buffer, 0)));
      steps.add(new Launch(call.compiled().kernel(), arguments));
    }
    return new Program(network.func().name(), params, workspace, steps);
  }
}
