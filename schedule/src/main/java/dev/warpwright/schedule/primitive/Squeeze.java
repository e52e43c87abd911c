package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.schedule.analysis.Access;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Tree;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Removes the first dimensions of intermediates beyond the last two where they have one element,
 * and the loops of one iteration over them: what is left of a loop around matrices, once one matrix
 * is computed at a time.
 *
 * <pre>{@code
 * alloc t[1, n, m]; for i in 1 { for j in n { … t[i, j, k] … } }
 * →
 * alloc t[n, m]; for j in n { … t[j, k] … }
 * }</pre>
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>No tile statement touches such an intermediate, and it has no layout.
 * </ol>
 */
public final class Squeeze {
  private static final String NAME = "squeeze";
  private static final int MATRIX = 2;

  private Squeeze() {}

  public static PrimFunc apply(PrimFunc func) {
    Check check = new Check(NAME, func);
    Map<Buffer, Buffer> smaller = new IdentityHashMap<>();
    for (Buffer buffer : Tree.intermediates(func)) {
      int units = units(buffer);
      if (units == 0) {
        continue;
      }
      check.require(
          1, buffer.layout() == null, buffer.name() + " has a layout already", func.body());
      for (Access access : Accesses.of(func.body(), buffer)) {
        check.require(
            1,
            access.leaf() instanceof Stmt.Block || access.leaf() instanceof Stmt.Store,
            "a tile statement touches " + buffer.name(),
            access.leaf());
      }
      smaller.put(buffer, buffer.withShape(buffer.shape().subList(units, buffer.rank())));
    }
    return func.withBody(new Squeezed(smaller, dropped(func, smaller)).stmt(func.body()));
  }

  /** Variables of loops over the dimensions that go. */
  private static Set<Var> dropped(PrimFunc func, Map<Buffer, Buffer> smaller) {
    Set<Var> dropped = new HashSet<>();
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.Block block) {
            Set<Var> indices = new HashSet<>();
            List<Region> regions = new ArrayList<>(block.reads());
            regions.addAll(block.writes());
            for (Region region : regions) {
              if (smaller.containsKey(region.buffer())) {
                region.ranges().subList(0, units(region.buffer())).stream()
                    .map(Range::min)
                    .forEach(min -> vars(min, indices));
              }
            }
            for (IterVar iterVar : block.iterVars()) {
              if (indices.contains(iterVar.var())) {
                vars(iterVar.binding(), dropped);
              }
            }
          }
        });
    return dropped;
  }

  private static void vars(Expr e, Set<Var> into) {
    Walk.expressions(
        e,
        part -> {
          if (part instanceof Var v) {
            into.add(v);
          }
        });
  }

  private static int units(Buffer buffer) {
    int units = 0;
    while (buffer.rank() - units > MATRIX && Exprs.isConst(buffer.shape().get(units), 1)) {
      units++;
    }
    return units;
  }

  private static final class Squeezed extends Rewriter {
    private final Map<Buffer, Buffer> smaller;
    private final Set<Var> dropped;

    Squeezed(Map<Buffer, Buffer> smaller, Set<Var> dropped) {
      this.smaller = smaller;
      this.dropped = dropped;
    }

    @Override
    protected Buffer buffer(Buffer buffer) {
      return smaller.getOrDefault(buffer, buffer);
    }

    private <T> List<T> last(Buffer old, List<T> indices) {
      return indices.subList(old.rank() - buffer(old).rank(), indices.size());
    }

    @Override
    public Stmt stmt(Stmt s) {
      return switch (s) {
        case Stmt.For(Var v, Expr min, Expr extent, ForKind kind, var axis, var attrs, Stmt body)
            when kind == ForKind.SERIAL && dropped.contains(v) && Exprs.isConst(extent, 1) ->
            stmt(Substitution.ofVars(Map.of(v, min)).stmt(body));
        case Stmt.Store(Buffer b, List<Expr> indices, Expr value) when smaller.containsKey(b) ->
            new Stmt.Store(buffer(b), last(b, exprs(indices)), expr(value));
        default -> super.stmt(s);
      };
    }

    @Override
    public Expr expr(Expr e) {
      return switch (e) {
        case Expr.Load(Buffer b, List<Expr> indices) when smaller.containsKey(b) ->
            new Expr.Load(buffer(b), last(b, exprs(indices)));
        case Expr.AddressOf(Buffer b, List<Expr> indices) when smaller.containsKey(b) ->
            new Expr.AddressOf(buffer(b), last(b, exprs(indices)));
        default -> super.expr(e);
      };
    }

    @Override
    public Region region(Region region) {
      if (!smaller.containsKey(region.buffer())) {
        return super.region(region);
      }
      List<Range> ranges =
          region.ranges().stream().map(r -> new Range(expr(r.min()), expr(r.extent()))).toList();
      return new Region(buffer(region.buffer()), last(region.buffer(), ranges));
    }
  }
}
