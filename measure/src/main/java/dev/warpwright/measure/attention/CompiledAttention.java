package dev.warpwright.measure.attention;

import dev.warpwright.base.DeviceError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.SourceHash;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Kernel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Attention;
import java.util.ArrayList;
import java.util.List;

/**
 * The kernels of a way as machine code.
 *
 * @param cubins of the kernels, in their order
 * @param sourceHash of all that was printed
 */
record CompiledAttention(AttentionWay.Made made, List<Cubin> cubins, String sourceHash) {
  CompiledAttention {
    cubins = List.copyOf(cubins);
  }

  /**
   * Lowers, prints and compiles; from any thread.
   *
   * @throws DeviceError if a kernel cannot be compiled or spills
   * @throws dev.warpwright.base.UserError if its configuration is none of the attention's
   */
  static CompiledAttention of(Attention attention, AttentionWay way, GpuTarget target) {
    AttentionWay.Made made = way.make(attention, target);
    List<Cubin> cubins = new ArrayList<>();
    StringBuilder sources = new StringBuilder();
    for (Kernel kernel : made.program().kernels()) {
      String source = CudaPrinter.print(kernel, target);
      sources.append(source);
      Cubin cubin = CudaCompilers.compile(source, target);
      if (cubin.usage(kernel.name()).stream().anyMatch(usage -> !usage.isClean())) {
        throw new DeviceError(kernel.name() + " spills registers");
      }
      cubins.add(cubin);
    }
    return new CompiledAttention(made, cubins, SourceHash.of(sources.toString()));
  }
}
