package dev.warpwright.ir.text;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Program;
import java.util.List;

/**
 * What a text holds, each kind in order of appearance.
 *
 * @param primFuncs computations and tile programs
 * @param kernels those that stand by themselves
 * @param programs each with its kernels
 */
public record IrFile(List<PrimFunc> primFuncs, List<Kernel> kernels, List<Program> programs) {
  /** Copies the lists. */
  public IrFile {
    primFuncs = List.copyOf(primFuncs);
    kernels = List.copyOf(kernels);
    programs = List.copyOf(programs);
  }
}
