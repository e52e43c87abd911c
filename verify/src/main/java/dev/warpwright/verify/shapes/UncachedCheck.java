package dev.warpwright.verify.shapes;

import dev.warpwright.cuda.compile.CompileError;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.families.tuned.CompiledCheck;
import dev.warpwright.families.tuned.KernelCheck;
import dev.warpwright.ir.Kernel;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.target.GpuTarget;
import java.util.Optional;

/** Compiles every time, whatever a cache holds, and counts for each thread what it found. */
public final class UncachedCheck implements KernelCheck {
  private final CudaCompiler compiler;
  private final ThreadLocal<int[]> counts = ThreadLocal.withInitial(() -> new int[2]);

  /** A check by a compiler. */
  public UncachedCheck(CudaCompiler compiler) {
    this.compiler = compiler;
  }

  /** Forgets what this thread has counted. */
  public void begin() {
    counts.set(new int[2]);
  }

  /** Whether no kernel of this thread was compiled without a problem since it began. */
  public boolean isUnseen() {
    return counts.get()[0] == 0;
  }

  /** Kernels of this thread with a problem since it began. */
  public int skipped() {
    return counts.get()[1];
  }

  @Override
  public String identity() {
    return compiler.identity();
  }

  @Override
  public Optional<Outcome.Failed> problem(Kernel kernel, String source, GpuTarget target) {
    Optional<Outcome.Failed> problem;
    try {
      problem =
          CompiledCheck.problem(
              kernel, compiler.compile(new CompileRequest(source, target.name())));
    } catch (CompileError e) {
      problem =
          Optional.of(new Outcome.Failed(FailureReason.COMPILE, String.valueOf(e.getMessage())));
    }
    counts.get()[problem.isEmpty() ? 0 : 1]++;
    return problem;
  }
}
