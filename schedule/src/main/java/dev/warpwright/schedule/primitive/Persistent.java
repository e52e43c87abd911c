package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.schedule.analysis.Tree;
import java.util.List;

/**
 * Lets a fixed number of blocks, all of which run at once, share the iterations of a loop over
 * tiles.
 *
 * <pre>{@code
 * for x in n { S }  →  persistent x in n [blocks = b] { S }
 * }</pre>
 *
 * <p>Block {@code p} takes the iterations {@code p, p + b, p + 2b, …}; the meaning stays that of a
 * serial loop.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The loop exists.
 *   <li>It is serial and starts at 0.
 *   <li>{@code blocks ≥ 1}.
 *   <li>No loop around it, inside it or elsewhere is persistent or bound to a block index.
 *   <li>Iterations are independent and share no on-chip buffer; the same goes for every other
 *       parallel loop.
 * </ol>
 */
public final class Persistent {
  private static final String NAME = "persistent";

  private Persistent() {}

  public static PrimFunc apply(PrimFunc func, Var loopVar, long blocks) {
    Check check = new Check(NAME, func);
    Stmt.For loop = LoopKind.serialLoop(check, loopVar);
    check.require(3, blocks >= 1, blocks + " blocks", loop);
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.For other) {
            check.require(
                4,
                !LoopKind.isOverBlocks(other),
                "loop " + other.var() + " is shared out to blocks already",
                other);
          }
        });
    Stmt.For shared =
        new Stmt.For(
            loop.var(),
            loop.min(),
            loop.extent(),
            ForKind.PERSISTENT,
            null,
            loop.attrs().with("blocks", blocks),
            loop.body());
    return check.parallelLoopsIndependent(5, Tree.replace(func, loop, shared));
  }

  /** The loops of a function whose iterations different blocks carry out, in program order. */
  static List<Stmt.For> blockLoops(PrimFunc func) {
    return Tree.allLoops(func.body()).stream().filter(LoopKind::isOverBlocks).toList();
  }
}
