package dev.warpwright.compiler.fusion;

import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.program.KernelCall;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.compiler.program.ProgramAssembly;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.lower.tile.PackConstants;
import dev.warpwright.model.function.Constant;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.networks.Scheduled;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.target.Target;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Kernels of groups of stages as one program, for any row count. */
final class LinkedNetwork {
  private LinkedNetwork() {}

  static CompiledKernel kernel(
      StageGroup group, Scheduled scheduled, Kernel kernel, String strategy, String why) {
    return new CompiledKernel(
        kernel,
        group.func(),
        scheduled.trace(),
        scheduled.tiles(),
        strategy,
        why,
        group.stages().stream().map(Stage::block).toList());
  }

  /**
   * The program.
   *
   * @param compiled a kernel for each group, launched in order
   * @param constants all of the network's, as the kernels take them
   */
  static CompiledProgram of(
      NetworkFunction network,
      Precision precision,
      Target target,
      List<StageGroup> groups,
      List<CompiledKernel> compiled,
      List<PackedConstant> constants) {
    List<KernelCall> calls = new ArrayList<>();
    for (int i = 0; i < groups.size(); i++) {
      calls.add(KernelCall.of(compiled.get(i), groups.get(i)));
    }
    Map<Buffer, Buffer> packed = new HashMap<>();
    constants.forEach(c -> packed.put(c.constant().buffer(), c.buffer()));
    Program program =
        ProgramAssembly.assemble(
            network, calls, packed, constants.stream().map(PackedConstant::buffer).toList());
    return new CompiledProgram(
        network, precision, target, program, constants, compiled, OptionalInt.empty());
  }

  /** The same with all constants as the network has them. */
  static CompiledProgram of(
      FusionInput in, List<StageGroup> groups, List<CompiledKernel> compiled) {
    return of(
        in.network(),
        in.precision(),
        in.target(),
        groups,
        compiled,
        packed(in.network(), Map.of()));
  }

  static Set<Buffer> constants(NetworkFunction network) {
    return network.constants().stream().map(Constant::buffer).collect(Collectors.toSet());
  }

  /** A network's constants, some of them in another form. */
  static List<PackedConstant> packed(
      NetworkFunction network, Map<Buffer, PackConstants.Form> forms) {
    return network.constants().stream().map(c -> packed(c, forms.get(c.buffer()))).toList();
  }

  private static PackedConstant packed(Constant constant, PackConstants.@Nullable Form form) {
    return form == null
        ? PackedConstant.plain(constant)
        : new PackedConstant(form.buffer(), form.where(), form.tf32() ? constant.tf32() : constant);
  }
}
