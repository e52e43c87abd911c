package dev.warpwright.lower.block;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.CopyLowering;
import dev.warpwright.lower.pass.Barriers;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Barriers between tile statements that meet in shared memory.
 *
 * <p>It stands after the plan of shared memory, because buffers that share space conflict too, and
 * before tiles become threads, because a tile statement is executed by all threads and barriers
 * between tile statements cannot diverge. Copies into a ring have barriers already, as far as the
 * ring itself goes.
 */
final class BarrierInsertion extends Barriers {
  private final SharedPlan plan;

  /** Whether all that meet take the same branches. */
  private final boolean branches;

  /** For each ring what stands for the stages that are being filled. */
  private final Map<Buffer, Buffer> stages = new IdentityHashMap<>();

  BarrierInsertion(SharedPlan plan) {
    this(plan, Intrinsics.SYNC_THREADS);
  }

  /**
   * Of those threads that meet at some barrier.
   *
   * @param plan of their buffers; others they only read
   */
  BarrierInsertion(SharedPlan plan, Intrinsic barrier) {
    super(barrier);
    this.plan = plan;
    this.branches = barrier == Intrinsics.SYNC_WARP;
  }

  @Override
  protected boolean overlap(Buffer a, Buffer b) {
    Buffer ringOfA = ring(a);
    Buffer ringOfB = ring(b);
    Buffer first = ringOfA == null ? a : ringOfA;
    Buffer second = ringOfB == null ? b : ringOfB;
    boolean ordered = first == second && (ringOfA != null || ringOfB != null);
    return !ordered && plan.place(first).overlaps(plan.place(second));
  }

  @Override
  protected @Nullable Touched unit(Stmt s) {
    return switch (s) {
      case Stmt.Seq _, Stmt.For _, Stmt.Alloc _, Stmt.Let _, Stmt.Comment _ -> null;
      case Stmt.If i when copiesAhead(i) -> ahead(i);
      case Stmt.If _ when branches -> null;
      case Stmt.If _ ->
          throw new LoweringException("a tile program may not branch around tile statements");
      case Stmt.While _ -> throw new LoweringException("a tile program may not have a while loop");
      case Stmt.Block block ->
          throw new LoweringException(
              "block " + block.name() + " was not turned into a tile statement");
      case Stmt.Flow _ -> throw new LoweringException("pipes, roles and signals are left");
      case Stmt.TileCopy copy when CopyLowering.isAsynchronous(copy) -> ahead(s);
      case Stmt.Store _, Stmt.Evaluate _, Stmt.TileCopy _, Stmt.TileFill _ -> touched(s);
      case Stmt.TileMma _, Stmt.TileMap _, Stmt.TileReduce _ -> touched(s);
    };
  }

  /** Whether all that stands under a condition are copies into stages of rings. */
  private static boolean copiesAhead(Stmt s) {
    return switch (s) {
      case Stmt.If(var _, Stmt then, Stmt otherwise) when otherwise == null -> copiesAhead(then);
      case Stmt.Let let -> copiesAhead(let.body());
      case Stmt.For loop -> copiesAhead(loop.body());
      case Stmt.Seq(List<Stmt> stmts) -> stmts.stream().allMatch(BarrierInsertion::copiesAhead);
      default -> CopyLowering.isAsynchronous(s);
    };
  }

  /** What asynchronous copies write stands for itself: the stages of a ring have their barriers. */
  private Touched ahead(Stmt s) {
    Touched touched = Touched.nothing();
    Walk.statements(
        s,
        inner -> {
          if (inner instanceof Stmt.TileCopy copy) {
            Buffer ring = copy.to().buffer();
            touched.writes().add(stages.computeIfAbsent(ring, BarrierInsertion::other));
          }
        });
    return touched;
  }

  private static Buffer other(Buffer ring) {
    return Buffer.of(ring.name(), ring.dtype(), ring.scope(), ring.shape());
  }

  private @Nullable Buffer ring(Buffer stage) {
    return stages.entrySet().stream()
        .filter(each -> each.getValue() == stage)
        .map(Map.Entry::getKey)
        .findFirst()
        .orElse(null);
  }

  private Touched touched(Stmt s) {
    Touched touched = Touched.nothing();
    Leaves leaves = Leaves.of(s);
    shared(leaves.reads(), touched.reads());
    shared(leaves.writes(), touched.writes());
    return touched;
  }

  private void shared(Set<Buffer> all, Set<Buffer> into) {
    all.stream()
        .filter(buffer -> buffer.scope() == Scope.SHARED && plan.has(buffer))
        .forEach(into::add);
  }
}
