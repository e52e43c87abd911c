package dev.warpwright.compiler.program;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.UserError;
import dev.warpwright.ir.Walk;
import dev.warpwright.lower.gpu.GpuLowering;
import dev.warpwright.model.function.NetworkFunction.Product;
import dev.warpwright.model.function.Precision;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import java.util.Locale;
import java.util.Optional;

/** Chooses tilings and makes kernels for a GPU. */
final class GpuKernels {
  /** 32-bit registers of a thread that fragments may take; addresses and operands need the rest. */
  private static final int FRAGMENT_REGISTERS = 160;

  private final GpuTarget target;
  private final String instruction;

  GpuKernels(GpuTarget target, Precision precision) {
    this.target = target;
    this.instruction = GpuTiling.instruction(precision, target);
  }

  /** All stages in one kernel over tiles of rows, or nothing if no tiling fits the target. */
  Optional<CompiledKernel> rowBlock(StageGroup group) {
    boolean tensorCores = !instruction.equals("fma");
    long widest =
        group.stages().stream()
            .filter(Product.class::isInstance)
            .map(Product.class::cast)
            .mapToLong(p -> Math.max(p.n(), p.k()))
            .max()
            .orElse(1);
    for (GpuTiling tiling : GpuTiling.candidates(tensorCores, widest)) {
      if (registers(group, tiling) > FRAGMENT_REGISTERS) {
        continue;
      }
      Scheduled scheduled = RowBlockSchedule.gpu(group, tiling, instruction);
      PrimFunc tiles = scheduled.tiles();
      if (sharedBytes(tiles) > 2L * target.sharedPerBlock()) {
        continue;
      }
      Kernel kernel = GpuLowering.lower(tiles);
      if (KernelResources.of(kernel).sharedBytes() <= target.sharedPerBlock()) {
        String why =
            String.format(
                Locale.ROOT,
                "activations of %d rows fit into shared memory (%d of %d bytes), so no intermediate"
                    + " leaves the chip",
                tiling.rows(),
                KernelResources.of(kernel).sharedBytes(),
                target.sharedPerBlock());
        return Optional.of(
            new CompiledKernel(
                kernel,
                group.func(),
                scheduled.trace(),
                tiles,
                "shared chaining",
                why,
                NetworkCompiler.names(group)));
      }
    }
    return Optional.empty();
  }

  /** A kernel of one layer. */
  CompiledKernel layer(StageGroup group) {
    throw new UserError("the network is too wide for one kernel: " + NetworkCompiler.names(group));
  }

  /** Accumulators of the two widest products that may be alive at once, for a thread. */
  private static long registers(StageGroup group, GpuTiling tiling) {
    long widest =
        group.stages().stream()
            .filter(Product.class::isInstance)
            .map(Product.class::cast)
            .mapToLong(Product::n)
            .max()
            .orElse(0);
    return tiling.rows() * widest / tiling.threads();
  }

  /** Shared memory of a tile program before buffers share space; only a hint. */
  private static long sharedBytes(PrimFunc tiles) {
    long[] bytes = {0};
    Walk.statements(
        tiles.body(),
        s -> {
          if (s instanceof Stmt.Alloc(Buffer buffer, Stmt ignored)
              && buffer.scope() == Scope.SHARED
              && buffer.hasConstantShape()) {
            bytes[0] = Math.max(bytes[0], buffer.storageElements() * buffer.dtype().bytes());
          }
        });
    return bytes[0];
  }
}
