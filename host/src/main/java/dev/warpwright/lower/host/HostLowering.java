package dev.warpwright.lower.host;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.lower.pass.ExpandMath;
import dev.warpwright.lower.pass.LowerBlocks;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.lower.pass.UnrollLoops;
import dev.warpwright.lower.pass.VectorizeLoops;
import dev.warpwright.target.HostTarget;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes host kernels of programs: tile programs for speed, any other to be able to run it. */
public final class HostLowering {
  private HostLowering() {}

  /**
   * Lowers a tile program (or a program of plain loops and blocks).
   *
   * @param constants parameters that are known before the first run, so that they can be packed
   *     once; other right operands are packed on every run
   */
  public static HostProgram lower(PrimFunc func, HostTarget target, Set<Buffer> constants) {
    return lower(func, target, constants, PassListener.NONE);
  }

  /** The same, with someone who is told the result of each pass. */
  public static HostProgram lower(
      PrimFunc func, HostTarget target, Set<Buffer> constants, PassListener listener) {
    PrimFunc blocks = listener.tell("LowerBlocks", LowerBlocks.apply(func));
    PrimFunc merged = blocks.withBody(MergeAccumulators.apply(blocks.body()));
    listener.tell("MergeAccumulators", merged);
    PrimFunc loops =
        listener.tell("ShareScratch", merged.withBody(ShareScratch.apply(merged.body())));
    VectorMachine machine = VectorMachine.of(target);
    PanelPlan plan = PanelPlan.of(loops, constants, machine);
    Stmt body =
        new TileLowering(plan, machine, Simplify.ofParams(func.params())).lower(loops.body());
    HostMmaLowering mma = new HostMmaLowering(plan, machine);
    List<PanelPlan.Panel> copied =
        plan.panels().values().stream().filter(PanelPlan.Panel::copied).toList();
    for (PanelPlan.Panel panel : copied.reversed()) {
      body = new Stmt.Alloc(panel.buffer(), Stmts.seq(mma.pack(panel), body));
    }
    Map<Buffer, HostProgram.Packed> packed = new LinkedHashMap<>();
    List<Param> params = new ArrayList<>();
    for (Param param : func.params()) {
      if (param instanceof Buffer b) {
        HostProgram.@Nullable Packed form = plan.packed(b);
        if (form != null) {
          packed.put(b, form);
        }
        params.add(form == null ? b : form.buffer());
      } else {
        params.add(param);
      }
    }
    return new HostProgram(finish(func.name(), params, body, func.attrs(), listener), packed);
  }

  private static Kernel finish(
      String name, List<Param> params, Stmt loops, Attrs attrs, PassListener listener) {
    Kernel kernel = new Kernel(name, Kernel.Kind.HOST, params, List.of(), loops, attrs);
    listener.tell("TileLowering", kernel);
    kernel = listener.tell("ExpandMath", kernel.withBody(ExpandMath.apply(kernel.body())));
    kernel = listener.tell("VectorizeLoops", kernel.withBody(VectorizeLoops.apply(kernel.body())));
    kernel = listener.tell("UnrollLoops", kernel.withBody(UnrollLoops.apply(kernel.body())));
    return listener.tell("Simplify", Simplify.kernel(kernel));
  }
}
