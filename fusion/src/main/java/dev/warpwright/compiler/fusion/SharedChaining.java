package dev.warpwright.compiler.fusion;

import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.networks.Scheduled;
import dev.warpwright.networks.rows.GpuTiling;
import dev.warpwright.networks.rows.RowBlockSchedule;
import dev.warpwright.target.KernelResources;
import java.util.List;
import java.util.Locale;

/**
 * One kernel whose blocks each carry some rows through all layers in shared memory.
 *
 * <pre>
 * before  load x; h1 = x W1; a1 = act(h1); h2 = a1 W2; … store y      a stage each
 * after   one kernel: for each tile of rows, a block { x → shared memory; slices of a layer's weights
 *         pass through shared memory; activations in shared memory → the next layer; y ← registers }
 * </pre>
 */
abstract sealed class SharedChaining implements FusionRule permits TilesInRegisters, ThroughShared {
  /** Every result has loops of its own that one kernel would share: time grows as their square. */
  private static final int MOST_RESULTS = 128;

  /** Why not in registers, of kernels that are there to be measured. */
  static final String ANOTHER_WAY = "that is another way";

  /** What more results than a compiler copes with are said to be; empty for fewer. */
  static String tooManyResults(FusionInput in) {
    int results = in.network().outputs().size();
    return results > MOST_RESULTS ? results + " results are too many for one kernel" : "";
  }

  /** Why registers did not carry the network. */
  static String unchained(FusionInput in, FusionAttempts attempts) {
    FusionRule rule = FusionPlanner.chaining(in);
    String met = attempts.refusal(rule);
    return met != null ? met : rule.judge(in) instanceof Verdict.DoesNotFire(String why) ? why : "";
  }

  /**
   * The kernel with some sizes.
   *
   * @param unchained why activations are not in registers
   * @param name of the way
   */
  static Attempt make(FusionInput in, GpuTiling tiling, String unchained, String name) {
    Scheduled scheduled = RowBlockSchedule.gpu(in.fused(), tiling, in.instruction());
    int most = in.target().sharedPerBlock();
    long shared = largestShared(scheduled.tiles());
    if (shared <= most) {
      Kernel kernel = Lowering.lower(scheduled.tiles(), in.target());
      shared = KernelResources.of(kernel).sharedBytes();
      if (shared <= most) {
        String why =
            String.format(
                    Locale.ROOT,
                    "activations of %d rows fit into shared memory (%d of %d bytes), so no"
                        + " intermediate leaves the chip; not in registers, for %s",
                    tiling.rows(),
                    shared,
                    most,
                    unchained)
                + tiling.ofThreads();
        CompiledKernel compiled =
            LinkedNetwork.kernel(
                in.fused(), scheduled, kernel, CompiledKernel.SHARED_CHAINING, why);
        return new Attempt(LinkedNetwork.of(in, List.of(in.fused()), List.of(compiled)), why, name);
      }
    }
    return Attempt.refused(
        String.format(
            Locale.ROOT,
            "activations of %d rows and slices of the weights take %d bytes of shared memory, a"
                + " block has %d",
            tiling.rows(),
            shared,
            most));
  }

  /** The largest shared buffer of a tile program, which saves lowering what cannot fit. */
  private static long largestShared(PrimFunc tiles) {
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
