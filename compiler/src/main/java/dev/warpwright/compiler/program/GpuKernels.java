package dev.warpwright.compiler.program;

import dev.warpwright.compiler.stages.FusionTimes;
import dev.warpwright.compiler.stages.StageGroup;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.tile.PackConstants;
import dev.warpwright.lower.tile.PackConstants.Form;
import dev.warpwright.lower.tile.PassRefusal;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.function.NetworkFunction.Product;
import dev.warpwright.schedule.error.ScheduleError;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Chooses tilings and makes kernels for a GPU. */
final class GpuKernels {
  /** 32-bit registers of a thread that fragments may take; addresses and operands need the rest. */
  private static final int FRAGMENT_REGISTERS = 160;

  /** Ways of warps beside those of warpgroups. */
  private static final int FEW = 4;

  private static final int MOST = 6;

  /** A kernel takes a second to compile. */
  private static final int MOST_TRIED = 4;

  static final String REGISTER_CHAINING = "register chaining";
  static final String SHARED_CHAINING = "shared chaining";

  private final GpuTarget target;
  private final Precision precision;
  private final String instruction;

  GpuKernels(GpuTarget target, Precision precision) {
    this.target = target;
    this.precision = precision;
    this.instruction = GpuTiling.instruction(precision, target);
  }

  /**
   * The attempt to put all stages in one kernel.
   *
   * @param kernel the kernel, or null if no tiling fits the target
   * @param why it fits, or what does not
   * @param packed constants that it takes in another form
   */
  record Fused(@Nullable CompiledKernel kernel, String why, Map<Buffer, Form> packed) {
    Fused(@Nullable CompiledKernel kernel, String why) {
      this(kernel, why, Map.of());
    }
  }

  /** How {@link #registerChain} might carry a network, the presumably fastest first. */
  List<ChainTiling> chains(StageGroup group) {
    return ChainTiling.refusal(group, target).isEmpty()
        ? ChainTiling.candidates(
            group, target, DeviceCatalogue.multiprocessors(target), waitsForMemory(group))
        : List.of();
  }

  /** Why registers do not carry a network; empty if nothing is known to be in the way. */
  String unchained(StageGroup group) {
    return target.hasHopper()
        ? ChainTiling.refusal(group, target)
        : WarpTiling.refusal(group, target);
  }

  /**
   * How one kernel would carry a network, as far as shapes tell.
   *
   * @param chain the network as registers carry it
   * @param group the same as shared memory does
   */
  FusionTimes.Way way(StageGroup chain, StageGroup group, int rows) {
    boolean chained =
        target.hasHopper()
            ? !chains(chain).isEmpty()
            : WarpTiling.refusal(chain, target).isEmpty()
                && !WarpTiling.candidates(chain, target, DeviceCatalogue.multiprocessors(target))
                    .isEmpty();
    if (chained) {
      return FusionTimes.Way.REGISTERS;
    }
    return tiles(group).stream().anyMatch(tiling -> fills(tiling, rows))
        ? FusionTimes.Way.TILES
        : FusionTimes.Way.SHARED;
  }

  /**
   * How {@link #warpChain} might carry a network, the presumably fastest first: where products of
   * warpgroups are faster, only some.
   */
  List<WarpTiling> warpChains(StageGroup group) {
    if (!WarpTiling.refusal(group, target).isEmpty()) {
      return List.of();
    }
    List<WarpTiling> all =
        WarpTiling.alternatives(group, target, DeviceCatalogue.multiprocessors(target));
    return all.subList(0, Math.min(target.hasHopper() ? FEW : MOST, all.size()));
  }

  /** Whether rows take longer to move than to compute, on the largest device of the target. */
  private boolean waitsForMemory(StageGroup group) {
    double bytes = 0;
    for (NetworkFunction.Stage stage : group.stages()) {
      if (stage instanceof NetworkFunction.Load load) {
        bytes += load.from().extent(1) * load.from().dtype().bytes();
      } else if (stage instanceof NetworkFunction.Store store) {
        bytes += store.to().extent(1) * store.to().dtype().bytes();
      }
    }
    double flops = 2.0 * group.products().stream().mapToLong(p -> p.n() * p.k()).sum();
    double moved = bytes;
    return DeviceCatalogue.largest(target)
        .map(device -> moved / (device.dramGBs() * 1e9) > flops / precision.peak(device))
        .orElse(false);
  }

  /**
   * All stages in one kernel that holds activations in registers, if that can be.
   *
   * @param fast whether a kernel compiles to what it is meant to be; of those that do not, the
   *     first is better than none
   */
  Fused registerChain(StageGroup group, Set<Buffer> constants, Predicate<Kernel> fast) {
    if (target.hasHopper()) {
      return firstFast(
          chains(group),
          tiling -> registerChain(group, tiling, constants),
          fast,
          ChainTiling.refusal(group, target),
          "its weights do not fit");
    }
    String refusal = WarpTiling.refusal(group, target);
    List<WarpTiling> tilings =
        refusal.isEmpty()
            ? WarpTiling.candidates(group, target, DeviceCatalogue.multiprocessors(target))
            : List.of();
    return firstFast(
        tilings,
        tiling -> warpChain(group, tiling, constants),
        fast,
        refusal,
        "its activations take too many registers");
  }

  /**
   * The first tiling whose kernel is fast.
   *
   * @param known what is known to be in the way; empty if nothing is
   * @param otherwise what is in the way if no tiling says it
   */
  private static <T> Fused firstFast(
      List<T> tilings,
      Function<T, Fused> make,
      Predicate<Kernel> fast,
      String known,
      String otherwise) {
    String refusal = known;
    Fused first = null;
    int tried = 0;
    for (T tiling : tilings) {
      Fused fused = make.apply(tiling);
      if (fused.kernel() == null) {
        refusal = fused.why();
      } else if (fast.test(fused.kernel().kernel())) {
        return fused;
      } else {
        first = first == null ? fused : first;
        if (++tried == MOST_TRIED) {
          break;
        }
      }
    }
    if (first != null) {
      return first;
    }
    return new Fused(null, refusal.isEmpty() ? otherwise : refusal);
  }

  /** The same in one way. */
  Fused registerChain(StageGroup group, ChainTiling tiling, Set<Buffer> constants) {
    String why =
        String.format(
            Locale.ROOT,
            "each of %d warpgroups holds activations of %d rows in registers, so only weights"
                + " pass through shared memory",
            tiling.consumers(),
            RegisterChain.ROWS);
    return chain(group, () -> RegisterChain.schedule(group, tiling), constants, why);
  }

  /** The same by warps, in one way. */
  Fused warpChain(StageGroup group, WarpTiling tiling, Set<Buffer> constants) {
    long stay = group.products().stream().filter(tiling::stays).count();
    String weights =
        stay == group.products().size()
            ? "so only weights are in shared memory, where they stay"
            : String.format(
                Locale.ROOT,
                "and %d of %d weights stay in shared memory; the others are read through L1 and L2",
                stay,
                group.products().size());
    String why =
        String.format(
            Locale.ROOT,
            "each of %d warps holds activations of %d rows in registers, %s",
            tiling.warps(),
            tiling.rows(),
            weights);
    return chain(group, () -> WarpChain.schedule(group, tiling), constants, why);
  }

  private Fused chain(
      StageGroup group, Supplier<Scheduled> schedule, Set<Buffer> constants, String why) {
    try {
      Scheduled scheduled = schedule.get();
      PackConstants.Packed packed = PackConstants.apply(scheduled.tiles(), constants);
      Kernel kernel = Lowering.lower(packed.func(), target);
      return new Fused(
          compiled(group, scheduled, kernel, REGISTER_CHAINING, why), why, packed.packed());
    } catch (LoweringException | PassRefusal | ScheduleError e) {
      return new Fused(null, String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
    }
  }

  /**
   * All stages in one kernel over tiles of rows, if a tiling fits the target.
   *
   * @param unchained why activations are not in registers
   */
  Fused rowBlock(StageGroup group, String unchained) {
    long widest = group.products().stream().mapToLong(p -> Math.max(p.n(), p.k())).max().orElse(1);
    String refusal = "";
    for (GpuTiling tiling : GpuTiling.candidates(instruction, widest)) {
      long registers = tiling.registers(group);
      if (registers > FRAGMENT_REGISTERS) {
        refusal =
            String.format(
                Locale.ROOT,
                "%d rows of the accumulators that are needed at once take %d registers of each"
                    + " thread, more than %d",
                tiling.rows(),
                registers,
                FRAGMENT_REGISTERS);
        continue;
      }
      Fused fused = rowBlock(group, tiling, unchained);
      if (fused.kernel() != null) {
        return fused;
      }
      refusal = fused.why();
    }
    return new Fused(null, refusal);
  }

  /**
   * The same in one way.
   *
   * @param unchained why activations are not in registers
   */
  Fused rowBlock(StageGroup group, GpuTiling tiling, String unchained) {
    Scheduled scheduled = RowBlockSchedule.gpu(group, tiling, instruction);
    long shared = largestShared(scheduled.tiles());
    if (shared <= target.sharedPerBlock()) {
      Kernel kernel = Lowering.lower(scheduled.tiles(), target);
      shared = KernelResources.of(kernel).sharedBytes();
      if (shared <= target.sharedPerBlock()) {
        String why =
            String.format(
                    Locale.ROOT,
                    "activations of %d rows fit into shared memory (%d of %d bytes), so no"
                        + " intermediate leaves the chip; not in registers, for %s",
                    tiling.rows(),
                    shared,
                    target.sharedPerBlock(),
                    unchained)
                + tiling.ofThreads();
        return new Fused(compiled(group, scheduled, kernel, SHARED_CHAINING, why), why);
      }
    }
    return new Fused(
        null,
        String.format(
            Locale.ROOT,
            "activations of %d rows and slices of the weights take %d bytes of shared memory, a"
                + " block has %d",
            tiling.rows(),
            shared,
            target.sharedPerBlock()));
  }

  /** Tiles of registers for a network without tensor cores, the presumably fastest first. */
  List<GpuTiling> tiles(StageGroup group) {
    return instruction.equals("fma") && !group.products().isEmpty()
        ? GpuTiling.tiles(group, target)
        : List.of();
  }

  /** Whether so many rows are a tile for each multiprocessor. */
  boolean fills(GpuTiling tiling, int rows) {
    return rows > (DeviceCatalogue.multiprocessors(target) - 1L) * tiling.rows();
  }

  /**
   * All stages in one kernel over tiles of rows: by tiles of registers, if they keep the device
   * busy, or else in the first way that fits.
   *
   * @param rows to be fast for
   * @param fast whether a kernel compiles to what it is meant to be
   */
  Fused rowBlock(StageGroup group, int rows, String unchained, Predicate<Kernel> fast) {
    int tried = 0;
    for (GpuTiling tiling : tiles(group)) {
      if (fills(tiling, rows) && tried < MOST_TRIED) {
        Fused fused = rowBlock(group, tiling, unchained);
        if (fused.kernel() != null && fast.test(fused.kernel().kernel())) {
          return fused;
        }
        tried++;
      }
    }
    return rowBlock(group, unchained);
  }

  /**
   * A kernel of one group of {@link Partition#byLayer}.
   *
   * @param unfused why it is not part of a larger one
   */
  CompiledKernel layer(StageGroup group, String unfused) {
    LayerTiling tiling =
        switch (group.stages().getFirst()) {
          case Product product -> LayerTiling.ofProduct(product, instruction);
          case NetworkFunction.Reduction reduction -> LayerTiling.ofRows();
          case NetworkFunction.Load load -> LayerTiling.ofElements();
          case NetworkFunction.Map map -> LayerTiling.ofElements();
          case NetworkFunction.Store store -> LayerTiling.ofElements();
        };
    Scheduled scheduled = LayerSchedule.gpu(group, tiling);
    Kernel kernel = Lowering.lower(scheduled.tiles(), target);
    String strategy =
        group.stages().getFirst() instanceof Product ? "epilogue" : "elementwise and row sums";
    return compiled(group, scheduled, kernel, strategy, "" + unfused);
  }

  private static CompiledKernel compiled(
      StageGroup group, Scheduled scheduled, Kernel kernel, String strategy, String why) {
    return new CompiledKernel(
        kernel,
        group.func(),
        scheduled.trace(),
        scheduled.tiles(),
        strategy,
        why,
        NetworkCompiler.names(group));
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
