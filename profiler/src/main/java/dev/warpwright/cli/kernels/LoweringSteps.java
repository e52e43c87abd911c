package dev.warpwright.cli.kernels;

import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.visit.LaunchOrder;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.lower.host.HostLowering;
import dev.warpwright.lower.launch.LateWait;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.lower.simt.SimtLowering;
import dev.warpwright.lower.tile.PackConstants;
import dev.warpwright.model.function.Constant;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.HostTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * A kernel after each pass that made it of its tile program. The passes run once more for that:
 * what nobody wants to see is not kept.
 */
public final class LoweringSteps {
  private LoweringSteps() {}

  /**
   * A pass and what it left.
   *
   * @param pass the name of its class
   * @param text the program, or the part of it that the pass worked on
   */
  public record Step(String pass, String text) {}

  /**
   * {@return the passes that changed one of the program's kernels, in their order}
   *
   * @param program compiled for the device
   * @param kernel of the program
   */
  public static List<Step> of(CompiledProgram program, CompiledKernel kernel) {
    Set<Buffer> constants =
        program.network().constants().stream().map(Constant::buffer).collect(Collectors.toSet());
    PrimFunc tiles = kernel.tileProgram();
    return switch (program.target()) {
      case HostTarget host -> kept(tiles, keep -> HostLowering.lower(tiles, host, constants, keep));
      case GpuTarget gpu ->
          hasTiles(tiles) && kernel.isRegisterChained()
              ? kept(
                  tiles,
                  keep -> {
                    PrimFunc packed = PackConstants.apply(tiles, constants).func();
                    Kernel lowered = Lowering.lower(keep.tell("PackConstants", packed), gpu, keep);
                    Kernel whole = kernel.kernel();
                    if (LaunchOrder.overlaps(whole)) {
                      LateWait.of(lowered, LaunchOrder.constants(whole.attrs()))
                          .ifPresent(late -> keep.tell("LateWait", late));
                    }
                  })
              : of(tiles, gpu);
    };
  }

  /**
   * {@return the passes that change a scheduled program, tiles or plain threads, on its way to a
   * kernel}
   *
   * @param scheduled a function with its schedule applied
   * @param target the GPU that it is for
   */
  public static List<Step> of(PrimFunc scheduled, GpuTarget target) {
    if (scheduled.body() instanceof Stmt.Seq(List<Stmt> grids)
        && grids.size() > 1
        && grids.stream().allMatch(LoweringSteps::isGrid)) {
      // One launch of several that do not need each other: each was lowered by itself.
      return grids.stream().flatMap(grid -> of(scheduled.withBody(grid), target).stream()).toList();
    }
    return kept(
        scheduled,
        keep -> {
          if (hasTiles(scheduled)) {
            Lowering.lower(scheduled, target, keep);
          } else {
            SimtLowering.lower(scheduled, keep);
          }
        });
  }

  private static List<Step> kept(PrimFunc first, Consumer<PassListener> lowering) {
    List<Step> steps = new ArrayList<>();
    String[] last = {IrPrinter.text(first)};
    lowering.accept(
        (pass, supplied) -> {
          String text = supplied.get();
          if (!text.equals(last[0])) {
            steps.add(new Step(pass, text));
          }
          last[0] = text;
        });
    return List.copyOf(steps);
  }

  private static boolean isGrid(Stmt s) {
    return s instanceof Stmt.For f && f.kind() == ForKind.THREAD_BOUND;
  }

  private static boolean hasTiles(PrimFunc func) {
    boolean[] found = {false};
    Walk.statements(
        func.body(),
        s ->
            found[0] |=
                s instanceof Stmt.TileCopy
                    || s instanceof Stmt.TileFill
                    || s instanceof Stmt.TileMma
                    || s instanceof Stmt.TileMap
                    || s instanceof Stmt.TileReduce);
    return found[0];
  }
}
