package dev.warpwright.lower.tile;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.lower.pass.Allocated;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The part of {@link PlanPipes} for pipelined loops with {@code slices = n}: n steps share a stage,
 * and what is left of the steps shares one more.
 *
 * <pre>{@code
 * pipeline k in 11 [slices = 3] {          pipeline k in 3 {
 *   tile.copy Ws <- W[0 +: 64, k * 16 +: 16]   tile.copy Ws_3 <- W[0 +: 64, k * 48 +: 48]
 *   tile.mma acc += a[…, k * 16 +: 16] * Ws^T  tile.mma acc += a[…, k * 48 +: 48] * Ws_3^T
 * }                                     →  }
 *                                          pipeline k in 1 {
 *                                            tile.copy Ws_2 <- W[0 +: 64, 144 +: 32]
 *                                            tile.mma acc += a[…, 144 +: 32] * Ws_2^T
 *                                          }
 * }</pre>
 *
 * <p>A loop that does anything else keeps its steps.
 */
final class GroupSlices extends Rewriter {
  static final String SLICES = "slices";

  private GroupSlices() {}

  static Stmt apply(Stmt body) {
    return new GroupSlices().stmt(body);
  }

  /** Slices of the largest of a loop's stages. */
  static long ofStage(Stmt.For f) {
    Step step = Step.of(f);
    return step == null ? 1 : Math.min(f.attrs().getLong(SLICES, 1), step.steps());
  }

  /** A copy along K and the product that reads it, by steps of so many columns. */
  private record Step(Stmt.For loop, Stmt.TileCopy copy, Stmt.TileMma mma, long columns) {
    /** The step of a loop whose slices share stages; null if it keeps its steps. */
    static @Nullable Step of(Stmt.For f) {
      if (f.kind() != ForKind.PIPELINED || f.attrs().getLong(SLICES, 1) < 2) {
        return null;
      }
      List<Buffer> allocated = new ArrayList<>();
      List<Stmt> inner = new ArrayList<>();
      Allocated.apart(f.body(), allocated, inner);
      Step step = of(f, TileFacts.flat(Stmts.seq(inner)));
      return step != null && allocated.equals(List.of(step.copy.to().buffer())) ? step : null;
    }

    private static @Nullable Step of(Stmt.For f, List<Stmt> stmts) {
      if (stmts.size() != 2
          || !(stmts.get(0) instanceof Stmt.TileCopy copy)
          || !(stmts.get(1) instanceof Stmt.TileMma mma)
          || !(f.extent() instanceof Expr.IntImm)
          || !Exprs.isConst(f.min(), 0)) {
        return null;
      }
      Buffer tile = copy.to().buffer();
      long columns = tile.rank() == 2 ? tile.extent(1) : 0;
      boolean fits =
          tile.layout() == null
              && TileFacts.isWhole(copy.to())
              && mma.b().equals(copy.to())
              && mma.transposeB()
              && !mma.transposeA()
              && isSlice(copy.from(), f.var(), columns)
              && isSlice(mma.a(), f.var(), columns)
              && !TileFacts.mentions(copy.from().ranges().getFirst().min(), List.of(f.var()))
              && !TileFacts.mentions(mma.a().ranges().getFirst().min(), List.of(f.var()));
      return fits ? new Step(f, copy, mma, columns) : null;
    }

    private static boolean isSlice(Region region, Var step, long columns) {
      Range last = region.ranges().getLast();
      return region.ranges().size() == 2
          && Exprs.isConst(last.extent(), columns)
          && last.min().equals(Exprs.mul(step, columns));
    }

    long steps() {
      return ((Expr.IntImm) loop.extent()).value();
    }

    /** So many steps from the first on, each of so many slices. */
    Stmt grouped(long first, long steps, long slices) {
      Buffer tile = copy.to().buffer();
      Buffer wide = tile.withShape(List.of(tile.shape().getFirst(), Exprs.i32(slices * columns)));
      Var k = Var.index(loop.var().name());
      UnaryOperator<Region> at =
          region -> {
            Expr min = Exprs.add(Exprs.mul(k, slices * columns), Exprs.i32(first * columns));
            return new Region(
                region.buffer(),
                List.of(region.ranges().getFirst(), new Range(min, Exprs.i32(slices * columns))));
          };
      Stmt body =
          Stmts.seq(
              new Stmt.TileCopy(Region.whole(wide), at.apply(copy.from()), copy.attrs()),
              new Stmt.TileMma(
                  mma.c(), at.apply(mma.a()), Region.whole(wide), false, true, mma.attrs()));
      Attrs attrs = loop.attrs().without(SLICES);
      Stmt all = new Stmt.For(k, Exprs.i32(0), Exprs.i32(steps), loop.kind(), null, attrs, body);
      return new Stmt.Alloc(wide, all);
    }
  }

  @Override
  public Stmt stmt(Stmt s) {
    if (!(s instanceof Stmt.For f) || f.kind() != ForKind.PIPELINED || !f.attrs().has(SLICES)) {
      return super.stmt(s);
    }
    Step step = Step.of(f);
    if (step == null) {
      Attrs attrs = f.attrs().without(SLICES);
      return new Stmt.For(f.var(), f.min(), f.extent(), f.kind(), null, attrs, f.body());
    }
    long slices = f.attrs().getLong(SLICES, 1);
    long steps = step.steps();
    List<Stmt> loops = new ArrayList<>();
    if (steps >= slices) {
      loops.add(step.grouped(0, steps / slices, slices));
    }
    if (steps % slices > 0) {
      loops.add(step.grouped(steps / slices * slices, 1, steps % slices));
    }
    return Stmts.seq(loops);
  }
}
