package dev.warpwright.lower.block;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.lower.pass.Barriers;
import dev.warpwright.lower.pass.LoweringException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Barriers between tile statements that meet in shared memory.
 *
 * <p>It stands after the plan of shared memory, because buffers that share space conflict too, and
 * before tiles become threads, because a tile statement is executed by all threads and barriers
 * between tile statements cannot diverge.
 */
final class BarrierInsertion extends Barriers {
  private final SharedPlan plan;

  BarrierInsertion(SharedPlan plan) {
    this.plan = plan;
  }

  @Override
  protected boolean overlap(Buffer a, Buffer b) {
    return plan.place(a).overlaps(plan.place(b));
  }

  @Override
  protected @Nullable Touched unit(Stmt s) {
    return switch (s) {
      case Stmt.Seq _, Stmt.For _, Stmt.Alloc _, Stmt.Let _, Stmt.Comment _ -> null;
      case Stmt.If _ ->
          throw new LoweringException("a tile program may not branch around tile statements");
      case Stmt.While _ -> throw new LoweringException("a tile program may not have a while loop");
      case Stmt.Block block ->
          throw new LoweringException(
              "block " + block.name() + " was not turned into a tile statement");
      case Stmt.Flow _ -> throw new LoweringException("pipes, roles and signals are left");
      case Stmt.Store _, Stmt.Evaluate _, Stmt.TileCopy _, Stmt.TileFill _ -> touched(s);
      case Stmt.TileMma _, Stmt.TileMap _, Stmt.TileReduce _ -> touched(s);
    };
  }

  private static Touched touched(Stmt s) {
    Touched touched = Touched.nothing();
    Leaves leaves = Leaves.of(s);
    shared(leaves.reads(), touched.reads());
    shared(leaves.writes(), touched.writes());
    return touched;
  }

  private static void shared(Set<Buffer> all, Set<Buffer> into) {
    all.stream().filter(buffer -> buffer.scope() == Scope.SHARED).forEach(into::add);
  }
}
