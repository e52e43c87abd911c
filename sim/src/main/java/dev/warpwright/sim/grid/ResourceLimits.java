package dev.warpwright.sim.grid;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.expr.Index3;
import dev.warpwright.sim.finding.Source;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a kernel asks of an SM that its target does not have: shared memory, threads, registers at
 * entry, blocks in residence, blocks of a cluster, blocks along an axis, instructions. Found before
 * anything runs. Registers that warpgroups ask for later and numbers of barriers are found when
 * they do.
 */
public final class ResourceLimits {
  /** Blocks of a cluster that every GPU with clusters can run (CUDA programming guide). */
  private static final int CLUSTER = 8;

  /** Blocks along y and z. */
  private static final long BLOCKS = 65_535;

  /** No block starts with fewer registers for each thread. */
  private static final int REGISTERS = 16;

  private final Source source;
  private final Kernel kernel;
  private final GpuTarget target;
  private final List<Finding> findings = new ArrayList<>();

  private ResourceLimits(Source source, Kernel kernel, GpuTarget target) {
    this.source = source;
    this.kernel = kernel;
    this.target = target;
  }

  /**
   * All that is too much.
   *
   * @param target that the kernel runs on, unless its attribute {@code arch} names a newer one
   * @param blocks of the launch
   * @param threads of a block
   */
  public static List<Finding> exceeded(
      Source source, Kernel kernel, GpuTarget target, Index3 blocks, long threads) {
    String arch = kernel.attrs().getString("arch");
    GpuTarget wanted =
        arch == null
            ? target
            : GpuTarget.find(arch).filter(least -> least.arch() > target.arch()).orElse(target);
    ResourceLimits limits = new ResourceLimits(source, kernel, wanted);
    limits.block(threads);
    limits.grid(blocks);
    limits.instructions();
    return List.copyOf(limits.findings);
  }

  private void block(long threads) {
    int shared = KernelResources.of(kernel).sharedBytes();
    if (shared > target.sharedPerBlock()) {
      add(
          largestShared(),
          String.format(
              Locale.ROOT,
              "blocks need %d bytes of shared memory, a block has %d",
              shared,
              target.sharedPerBlock()));
      return;
    }
    long wanted = kernel.attrs().getLong("minBlocks", 1);
    if (wanted > target.blocksPerSm() || wanted * threads > target.threadsPerSm()) {
      add(
          null,
          String.format(
              Locale.ROOT,
              "%d blocks of %d threads shall be on an SM, which holds %d threads and %d"
                  + " blocks",
              wanted,
              threads,
              target.threadsPerSm(),
              target.blocksPerSm()));
    } else if (wanted * threads * REGISTERS > GpuTarget.REGISTERS_PER_SM) {
      add(
          null,
          String.format(
              Locale.ROOT, "%d blocks of %d threads leave too few registers", wanted, threads));
    }
  }

  private void grid(Index3 blocks) {
    int sms = DeviceCatalogue.sms(target);
    long atOnce = sms * kernel.attrs().getLong("minBlocks", 1);
    if (kernel.attrs().getLong("cooperative", 0) == 1 && blocks.count() > atOnce) {
      add(
          null,
          String.format(
              Locale.ROOT,
              "%d blocks wait for each other, and %d SMs run %d at once",
              blocks.count(),
              sms,
              atOnce));
    }
    long cluster = kernel.attrs().getLong("cluster", 1);
    if (cluster > 1 && !target.supports(90, false)) {
      add(null, "there are no clusters");
    } else if (cluster > CLUSTER) {
      add(
          null,
          String.format(Locale.ROOT, "clusters of %d blocks, of at most %d", cluster, CLUSTER));
    }
    if (blocks.y() > BLOCKS || blocks.z() > BLOCKS) {
      add(
          null,
          String.format(
              Locale.ROOT,
              "%d by %d by %d blocks, at most %d along y and z",
              blocks.x(),
              blocks.y(),
              blocks.z(),
              BLOCKS));
    }
  }

  private void instructions() {
    Set<TargetIntrinsic> known = new HashSet<>();
    Stmt[] where = {kernel.body()};
    Walk.all(
        kernel.body(),
        s -> where[0] = s,
        e -> {
          if (e instanceof Expr.Call call
              && call.op() instanceof TargetIntrinsic intrinsic
              && known.add(intrinsic)
              && !target.supports(intrinsic.minimumArch(), intrinsic.archSpecific())) {
            add(where[0], "there is no " + intrinsic.text());
          }
        });
  }

  /** The allocation that takes most. */
  private @Nullable Stmt largestShared() {
    Stmt[] largest = {null};
    long[] bytes = {-1};
    Walk.statements(
        kernel.body(),
        s -> {
          if (s instanceof Stmt.Alloc(Buffer buffer, Stmt body)
              && buffer.scope() == Scope.SHARED
              && buffer.storageElements() * buffer.dtype().bytes() > bytes[0]) {
            bytes[0] = buffer.storageElements() * buffer.dtype().bytes();
            largest[0] = s;
          }
        });
    return largest[0];
  }

  private void add(@Nullable Stmt where, String what) {
    findings.add(
        new Finding(
            Finding.Kind.RESOURCES,
            kernel.name(),
            where == null ? 1 : source.line(where),
            where == null ? "" : source.excerpt(where),
            "",
            "",
            what + " on " + target.name()));
  }
}
