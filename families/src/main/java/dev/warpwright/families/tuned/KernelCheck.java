package dev.warpwright.families.tuned;

import dev.warpwright.cuda.compile.CompileError;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Kernel;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.target.GpuTarget;
import java.util.Optional;

/** Finds out whether a kernel is worth using, without running it. */
public interface KernelCheck {
  /** What finds out: where this is another one, what it rejected is tried again. */
  String identity();

  /**
   * What is wrong with a kernel.
   *
   * @param source its printed form, alone
   * @throws dev.warpwright.base.DeviceError if nothing can be found out about any kernel
   */
  Optional<Outcome.Failed> problem(Kernel kernel, String source, GpuTarget target);

  /**
   * The compiler that programs are compiled with here; empty if there is none. What it compiles
   * stays in its cache.
   */
  static Optional<KernelCheck> system() {
    return CudaCompilers.system().map(KernelCheck::by);
  }

  private static KernelCheck by(CudaCompiler compiler) {
    String identity = compiler.identity();
    return new KernelCheck() {
      @Override
      public String identity() {
        return identity;
      }

      @Override
      public Optional<Outcome.Failed> problem(Kernel kernel, String source, GpuTarget target) {
        try {
          return CompiledCheck.problem(kernel, CudaCompilers.compile(source, target));
        } catch (CompileError e) {
          return Optional.of(
              new Outcome.Failed(FailureReason.COMPILE, String.valueOf(e.getMessage())));
        }
      }
    };
  }
}
