package dev.warpwright.compiler;

import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.lower.host.HostLowering;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.lower.simt.SimtLowering;
import dev.warpwright.lower.tile.PackConstants;
import dev.warpwright.model.function.Constant;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.HostTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A kernel of a network after each pass that made it of its tile program. The passes run once more
 * for that: what nobody wants to see is not kept.
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

  /** The passes of one of the program's kernels, in their order. */
  public static List<Step> of(CompiledProgram program, CompiledKernel kernel) {
    Set<Buffer> constants =
        program.network().constants().stream().map(Constant::buffer).collect(Collectors.toSet());
    List<Step> steps = new ArrayList<>();
    PassListener keep = (pass, text) -> steps.add(new Step(pass, text.get()));
    PrimFunc tiles = kernel.tileProgram();
    switch (program.target()) {
      case HostTarget host -> HostLowering.lower(tiles, host, constants, keep);
      case GpuTarget gpu -> {
        if (!hasTiles(tiles)) {
          SimtLowering.lower(tiles, keep);
        } else if (kernel.isRegisterChained()) {
          PrimFunc packed = PackConstants.apply(tiles, constants).func();
          Lowering.lower(keep.tell("PackConstants", packed), gpu, keep);
        } else {
          Lowering.lower(tiles, gpu, keep);
        }
      }
    }
    return List.copyOf(steps);
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
