package dev.warpwright.lower.tile;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.WarpgroupInstruction;
import dev.warpwright.lower.grid.FusedGemms;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which fills of accumulators with zero need not happen, because the first product into them
 * overwrites: what follows is a product, or a loop that begins with one in its first iteration.
 */
public final class FoldedFills {
  /** Of a product, the loops in whose first iterations its accumulators hold nothing yet. */
  private final Map<Stmt, List<Stmt.For>> first = new IdentityHashMap<>();

  private final Map<Stmt, Boolean> folded = new IdentityHashMap<>();
  private final Bounds bounds;

  private FoldedFills(Bounds bounds) {
    this.bounds = bounds;
  }

  /**
   * Those of what a role or a block does.
   *
   * @param bounds of its variables, by which it is known that a loop runs at all
   */
  public static FoldedFills of(Stmt body, Bounds bounds) {
    FoldedFills fills = new FoldedFills(bounds);
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.Seq(List<Stmt> stmts)) {
            fills.visit(stmts);
          }
        });
    return fills;
  }

  /** Whether a fill is part of a product. */
  public boolean isFolded(Stmt.TileFill fill) {
    return folded.containsKey(fill);
  }

  /**
   * Something that is zero exactly where a product overwrites, and else positive; null if it never
   * does.
   */
  public @Nullable Expr later(Stmt.TileMma mma) {
    List<Stmt.For> loops = first.get(mma);
    if (loops == null) {
      return null;
    }
    Expr sum = Exprs.i32(0);
    for (Stmt.For f : loops) {
      sum = Exprs.add(sum, Exprs.sub(f.var(), f.min()));
    }
    return sum;
  }

  private void visit(List<Stmt> stmts) {
    for (int i = 0; i < stmts.size(); i++) {
      if (stmts.get(i) instanceof Stmt.TileFill fill
          && fill.to().buffer().scope() == Scope.FRAGMENT
          && Exprs.zero(fill.value().type()).equals(fill.value())) {
        Buffer acc = fill.to().buffer();
        List<Stmt.For> loops = new ArrayList<>();
        Stmt.TileMma mma = firstProduct(stmts.subList(i + 1, stmts.size()), acc, loops);
        if (mma != null && !first.containsKey(mma)) {
          folded.put(fill, true);
          first.put(mma, loops);
        }
      }
    }
  }

  private Stmt.@Nullable TileMma firstProduct(List<Stmt> stmts, Buffer acc, List<Stmt.For> loops) {
    for (Stmt s : stmts) {
      if (touches(s, acc)) {
        return firstProduct(s, acc, loops);
      }
    }
    return null;
  }

  private Stmt.@Nullable TileMma firstProduct(Stmt s, Buffer acc, List<Stmt.For> loops) {
    return switch (s) {
      case Stmt.TileMma mma ->
          WarpgroupInstruction.isNamedBy(mma)
                  && mma.c().buffer() == acc
                  && mma.a().buffer() != acc
                  && mma.b().buffer() != acc
              ? mma
              : null;
      case Stmt.Seq(List<Stmt> stmts) -> firstProduct(stmts, acc, loops);
      case Stmt.Let l -> firstProduct(l.body(), acc, loops);
      case Stmt.Alloc a -> firstProduct(a.body(), acc, loops);
      case Stmt.For f -> {
        if (bounds.of(f.extent()).min() < 1 && !f.attrs().has(FusedGemms.LEAST)) {
          yield null;
        }
        loops.add(f);
        yield firstProduct(f.body(), acc, loops);
      }
      default -> null;
    };
  }

  /** Whether a statement reads or writes a buffer. */
  public static boolean touches(Stmt s, Buffer buffer) {
    Leaves leaves = Leaves.of(s);
    return leaves.reads().contains(buffer)
        || leaves.writes().contains(buffer)
        || Stmts.children(s).stream().anyMatch(child -> touches(child, buffer));
  }
}
