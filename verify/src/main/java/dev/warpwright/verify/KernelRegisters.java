package dev.warpwright.verify;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.ResourceUsage;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.GpuTarget;

/** Registers of a kernel's threads: as the compiler allocates them, or estimated without one. */
public final class KernelRegisters {
  /** Registers that a thread needs beside its arrays, where no compiler says it. */
  private static final int SCALARS = 40;

  private KernelRegisters() {}

  /** Registers of a thread: what the compiler says, or else an estimate from the arrays. */
  public static int of(Kernel kernel, GpuTarget target) {
    return CudaCompilers.system()
        .flatMap(
            compiler ->
                CudaCompilers.compile(CudaPrinter.print(kernel, target), target)
                    .usage(CudaPrinter.functionName(kernel)))
        .map(ResourceUsage::registers)
        .orElseGet(() -> estimate(kernel));
  }

  /** An estimate of the registers of a thread from the arrays. */
  public static int estimate(Kernel kernel) {
    long[] elements = {0};
    Walk.statements(
        kernel.body(),
        s -> {
          if (s instanceof Stmt.Alloc alloc && alloc.buffer().scope() == Scope.LOCAL) {
            elements[0] += alloc.buffer().storageElements();
          }
        });
    return (int) Math.min(255, SCALARS + elements[0]);
  }
}
