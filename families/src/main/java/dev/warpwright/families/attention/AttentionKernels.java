package dev.warpwright.families.attention;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Program.ProgramParam;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.lower.simt.SimtLowering;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Attention;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * An attention's tile programs, its kernels, and the program that launches them: one, or one for
 * the parts of the keys and one that combines them, if the parts' blocks do not.
 *
 * <pre>{@code
 * Attention decode = Attention.of(4, 32, 8, 128, 1, 4096, DType.BF16);
 * AttentionKernels kernels =
 *     AttentionKernels.of(decode, new AttentionConfig(16, 64, 8, 128, 3), GpuTarget.SM_90A);
 * Program program = kernels.program(); // Q, K, V, lengths → O
 * }</pre>
 *
 * @param tiles the tile programs, in the order of the launches
 * @param kernels what they are lowered to
 */
public record AttentionKernels(
    Attention attention,
    AttentionConfig config,
    GpuTarget target,
    List<PrimFunc> tiles,
    List<Kernel> kernels) {
  /** Parameters that are memory of the program's own. */
  private static final Set<String> WORKSPACE = Set.of("tops", "totals", "sums", LastPart.COUNTERS);

  public AttentionKernels {
    tiles = List.copyOf(tiles);
    kernels = List.copyOf(kernels);
  }

  /**
   * Lowers.
   *
   * @throws dev.warpwright.base.UserError if the configuration is none for it, or the target has no
   *     matrix instructions of its type
   */
  public static AttentionKernels of(Attention attention, AttentionConfig config, GpuTarget target) {
    return of(attention, config, target, PassListener.NONE);
  }

  /** The same of entries that all have all keys: without the parameter lengths. */
  public static AttentionKernels ofFull(
      Attention attention, AttentionConfig config, GpuTarget target) {
    return of(attention, config, target, true, PassListener.NONE);
  }

  /**
   * Whether a configuration's kernel can make what a step of decoding brings itself.
   *
   * @param attention of entries that all have all keys
   */
  public static boolean takes(Attention attention, AttentionConfig config, NewToken token) {
    return TokenPrologue.fits(attention, config, token);
  }

  /**
   * The kernel of a step of decoding that makes the queries and the new row of each cache itself.
   * It has no parameter Q; behind the others are the buffers that the formulas read. K and V are
   * changed at the token's place, in place.
   *
   * @param config one that {@linkplain #takes can}
   */
  public static AttentionKernels ofStep(
      Attention attention, AttentionConfig config, GpuTarget target, NewToken token) {
    check(attention, config, target);
    PrimFunc tiles = WarpgroupTiles.forwards(name(attention) + "_token", attention, config);
    Kernel kernel = TokenPrologue.of(Lowering.lower(tiles, target), attention, token);
    return new AttentionKernels(attention, config, target, List.of(tiles), List.of(kernel));
  }

  /** Lowers, and tells what each pass leaves. */
  public static AttentionKernels of(
      Attention attention, AttentionConfig config, GpuTarget target, PassListener listener) {
    return of(attention, config, target, false, listener);
  }

  private static AttentionKernels of(
      Attention attention,
      AttentionConfig config,
      GpuTarget target,
      boolean full,
      PassListener listener) {
    check(attention, config, target);
    String name = name(attention);
    AttentionTiles all = new AttentionTiles(attention, config, full);
    boolean early = target.hasHopper();
    String partial = config.splits() == 1 ? "" : "_part";
    PrimFunc part =
        config.isForWarpgroups()
            ? WarpgroupTiles.program(name + "_groups" + partial, attention, config, full)
            : all.part(name + partial, early);
    List<PrimFunc> programs = new ArrayList<>();
    List<Kernel> kernels = new ArrayList<>();
    programs.add(part);
    Kernel first = Lowering.lower(part, target, listener);
    kernels.add(
        config.splits() == 1
            ? first
            : switch (config.combine()) {
              case LAUNCH -> first;
              case CLUSTER ->
                  config.isForWarpgroups()
                      ? WarpgroupTiles.inClusters(first, attention, config, full)
                      : all.inClusters(first);
              case LAST ->
                  config.isForWarpgroups()
                      ? WarpgroupTiles.byLast(first, attention, config, full)
                      : all.byLast(first);
            });
    if (config.hasLaunchBehind()) {
      PrimFunc combine = all.combine(name + "_combine", early);
      programs.add(combine);
      kernels.add(SimtLowering.lower(combine, listener));
    }
    return new AttentionKernels(attention, config, target, programs, kernels);
  }

  private static void check(Attention attention, AttentionConfig config, GpuTarget target) {
    config.check(attention);
    attention.precision().check(target);
    if (!target.hasMmaSync()) {
      throw new UserError(
          target.name() + " has no mma.sync of 16 by 8 by 16, which attention takes; use sm_80");
    }
    if (config.isForWarpgroups() && !target.hasWgmma()) {
      throw new UserError(
          target.name() + " has no wgmma; without by=wgmma attention takes mma.sync");
    }
    if (config.inCluster() && !target.hasHopper()) {
      throw new UserError(target.name() + " has no clusters; leave out combine=cluster");
    }
  }

  private static String name(Attention attention) {
    return "attention_"
        + attention.type().text()
        + (attention.causal() ? "_causal" : "")
        + (attention.isPaged() ? "_paged" : "");
  }

  /** Parameters Q, K, V, lengths, of a paged cache table, and O. */
  public Program program() {
    Map<String, Buffer> byName = new HashMap<>();
    List<ProgramParam> params = new ArrayList<>();
    List<Buffer> workspace = new ArrayList<>();
    List<Program.Step> steps = new ArrayList<>();
    for (Kernel kernel : kernels) {
      List<Program.Argument> arguments = new ArrayList<>();
      for (Param param : kernel.params()) {
        Buffer wanted = (Buffer) param;
        Buffer known = byName.get(wanted.name());
        if (known == null) {
          known = Buffer.of(wanted.name(), wanted.dtype(), wanted.scope(), wanted.shape());
          byName.put(known.name(), known);
          if (WORKSPACE.contains(known.name())) {
            workspace.add(known);
          } else {
            boolean result = known.name().equals("O");
            params.add(new ProgramParam(result ? Program.Role.OUTPUT : Program.Role.INPUT, known));
          }
        }
        arguments.add(new Program.BufferArgument(Objects.requireNonNull(known)));
      }
      steps.add(new Program.Launch(kernel, arguments));
    }
    return new Program(kernels.getFirst().name().replace("_part", ""), params, workspace, steps);
  }
}
