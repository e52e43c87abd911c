package dev.warpwright.lower.flow;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.lower.copy.GridPrologue;
import dev.warpwright.lower.copy.PrefetchRows;
import dev.warpwright.lower.grid.TrustedTables;
import dev.warpwright.lower.item.PipelinedProgram;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.lower.tile.AssignRoles;
import dev.warpwright.lower.tile.DistributeWork;
import dev.warpwright.lower.tile.HalveGathers;
import dev.warpwright.lower.tile.PackConstants;
import dev.warpwright.lower.tile.PlanPipes;
import dev.warpwright.lower.tile.PrefetchItems;
import dev.warpwright.lower.tile.SplitColumns;
import dev.warpwright.target.GpuTarget;
import java.util.Set;

/**
 * Turns a tile program into a kernel: the list of passes, and nothing else. Each is a file, and
 * says before → after and why it stands where it stands.
 */
public final class Lowering {
  /**
   * Registers of a thread that hold what a map reads of columns at a time, a bias or the weights of
   * a few inputs: wide maps read it part by part.
   */
  public static final int COLUMN_REGISTERS = 96;

  private Lowering() {}

  /**
   * Makes a kernel of a tile program without telling anybody.
   *
   * @param func of tile statements, with loops bound to blocks
   * @param target the GPU that it is for
   * @return a grid kernel
   */
  public static Kernel lower(PrimFunc func, GpuTarget target) {
    return lower(func, target, PassListener.NONE);
  }

  /**
   * Makes a kernel of a tile program.
   *
   * @param given of tile statements, with loops bound to blocks
   * @param target the GPU that it is for
   * @param listener is told the result of each pass
   * @return a grid kernel
   * @throws LoweringException if a pass cannot do what the program asks for
   * @throws dev.warpwright.lower.tile.PassRefusal if the program cannot be cut into roles
   */
  public static Kernel lower(PrimFunc given, GpuTarget target, PassListener listener) {
    GridPrologue prologue = GridPrologue.of(given, listener);
    PrimFunc func = prologue.rest();
    boolean groups = PipelinedProgram.isForWarpgroups(func);
    if (groups && !target.hasWgmma()) {
      throw new LoweringException(
          target.name() + " has no TMA copies and wgmma, which pipes are lowered to");
    }
    if (WarpTiles.are(func) && !target.hasMmaSync()) {
      throw new LoweringException(
          target.name() + " has no mma.sync of 16 by 8 by 16 and asynchronous copies");
    }
    // What callers have not packed, they cannot pack: rows that are read ahead still need a place.
    PrimFunc separate = PackConstants.apply(func, Set.of()).func();
    PrimFunc program = DistributeWork.apply(separate, listener);
    program = HalveGathers.apply(program, listener);
    program = PlanPipes.apply(program, listener);
    program = AssignRoles.apply(program, listener);
    program = PrefetchItems.apply(program, listener);
    program = SplitColumns.apply(program, listener);
    program = ChooseMovement.apply(program, listener);
    program = PlanShared.apply(program, target, listener);
    program = LowerPipes.apply(program, listener);
    program = EarlyWaits.apply(program, listener);
    program = RollLayers.apply(program, listener);
    Kernel kernel = prologue.inFrontOf(LowerTiles.apply(program, target, listener), listener);
    kernel = PrefetchRows.apply(kernel, listener);
    kernel = listener.tell("Simplify", Simplify.kernel(kernel));
    return TrustedTables.apply(kernel, listener);
  }
}
