package dev.warpwright.lower.tile;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.FreshNames;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.PassListener;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lets the copies with {@code prefetch = 1} of an item be under way, in registers, while the item
 * before is computed.
 *
 * <pre>{@code
 * persistent i in n {                     pipe ahead[1] local (next)
 *   let t = i * 4 + g                     produce ahead { tile.copy next <- x[g * 64 …] }
 *   alloc next: f16[64, 128] fragment     persistent i in n {
 *   tile.copy next <- x[t * 64 …]    →      let t = i * 4 + g
 *   tile.map a[r, k] = next[r, k]           consume ahead { tile.map a[r, k] = next[r, k] }
 *   …                                       produce ahead { tile.copy next <- x[((i + 1) * 4 + g) * 64 …] }
 * }                                         …
 *                                         }
 *                                         consume ahead { }
 * }</pre>
 *
 * <p>What is copied for the item behind the last one is nobody's; outside of its matrix it is zero,
 * as always.
 *
 * <p>Requires: the copy is from a matrix that the program does not write, its place follows from
 * the item's number by values of parameters; and what reads the tile follows right behind it.
 *
 * <p>Guarantees: no copy has {@code prefetch} any more; the tile lies in a pipe of registers, each
 * instance's own. Stands behind {@link AssignRoles}, which deals items out: the next item is the
 * instance's.
 */
public final class PrefetchItems extends Rewriter {
  private static final String ATTRIBUTE = "prefetch";

  private final Set<Buffer> written;
  private final Map<Buffer, Buffer> renamed = new HashMap<>();
  private int pipes;

  private PrefetchItems(PrimFunc func) {
    this.written = TileFacts.written(func);
  }

  public static PrimFunc apply(PrimFunc func, PassListener listener) {
    return listener.tell("PrefetchItems", apply(func));
  }

  /**
   * Moves copies ahead.
   *
   * @throws PassRefusal if one that asks for it cannot be
   */
  public static PrimFunc apply(PrimFunc func) {
    PrimFunc result = func.withBody(new PrefetchItems(func).stmt(func.body()));
    Walk.statements(
        result.body(),
        s -> {
          if (s instanceof Stmt.TileCopy copy && copy.attrs().has(ATTRIBUTE)) {
            throw new PassRefusal(
                copy.to().buffer().name() + " is copied ahead, but not in a persistent loop");
          }
        });
    return result;
  }

  @Override
  protected Buffer buffer(Buffer buffer) {
    return renamed.getOrDefault(buffer, buffer);
  }

  @Override
  public Stmt stmt(Stmt s) {
    if (s instanceof Stmt.For f && f.kind() == ForKind.PERSISTENT) {
      Stmt.TileCopy copy = find(f.body());
      return copy == null ? super.stmt(s) : ahead(f, copy);
    }
    return super.stmt(s);
  }

  /** The copy among the item's statements themselves. */
  private static Stmt.@Nullable TileCopy find(Stmt s) {
    return switch (s) {
      case Stmt.TileCopy copy when copy.attrs().has(ATTRIBUTE) -> copy;
      case Stmt.Seq(List<Stmt> stmts) -> {
        for (Stmt each : stmts) {
          Stmt.TileCopy found = find(each);
          if (found != null) {
            yield found;
          }
        }
        yield null;
      }
      case Stmt.Let l -> find(l.body());
      case Stmt.Alloc a -> find(a.body());
      default -> null;
    };
  }

  private Stmt ahead(Stmt.For items, Stmt.TileCopy copy) {
    Buffer tile = copy.to().buffer();
    if (copy.from().buffer().scope() != Scope.GLOBAL
        || written.contains(copy.from().buffer())
        || tile.scope() != Scope.FRAGMENT
        || !TileFacts.isWhole(copy.to())) {
      throw new PassRefusal(tile.name() + " is no fragment that is copied whole, from an input");
    }
    Buffer next = tile.withScope(Scope.LOCAL);
    renamed.put(tile, next);
    String name = pipes == 0 ? "ahead" : "ahead_" + pipes;
    pipes++;
    Pipe pipe = new Pipe(name, 1, Scope.LOCAL, List.of(next), Pipe.Options.NONE);
    Region place = place(items, copy);
    Stmt first = produce(pipe, copy, place, items, items.min());
    Stmt another = produce(pipe, copy, place, items, Exprs.add(items.var(), 1));
    Stmt body = stmt(new Item(pipe, copy, another).in(items.body()));
    Stmt loop =
        new Stmt.For(
            items.var(),
            expr(items.min()),
            expr(items.extent()),
            items.kind(),
            items.axis(),
            items.attrs(),
            body);
    return new Stmt.Flow.PipeScope(
        pipe, Stmts.seq(first, loop, new Stmt.Flow.Consume(pipe, false, Stmt.Seq.EMPTY)));
  }

  private static Stmt produce(
      Pipe pipe, Stmt.TileCopy copy, Region place, Stmt.For items, Expr item) {
    Region from = Substitution.ofVars(Map.of(items.var(), item)).region(place);
    Attrs attrs = copy.attrs().without(ATTRIBUTE);
    Stmt fill = new Stmt.TileCopy(Region.whole(pipe.buffers().getFirst()), from, attrs);
    return new Stmt.Flow.Produce(pipe, FreshNames.of(fill));
  }

  /** Where the copy reads, in terms of the item's number and of what is known outside. */
  private Region place(Stmt.For items, Stmt.TileCopy copy) {
    Map<Var, Expr> values = new HashMap<>();
    lets(items.body(), values);
    Region from = Substitution.ofVars(values).region(copy.from());
    Set<Var> inside = new HashSet<>(TileFacts.bound(items.body()));
    boolean[] known = {true};
    from.ranges()
        .forEach(
            range ->
                known[0] &=
                    TileFacts.isPure(range.min(), written)
                        && !TileFacts.mentions(range.min(), inside));
    if (!known[0]) {
      throw new PassRefusal(
          "where " + copy.to().buffer().name() + " is copied from does not follow from the item");
    }
    return from;
  }

  private static void lets(Stmt s, Map<Var, Expr> values) {
    switch (s) {
      case Stmt.Let l -> {
        values.put(l.var(), Substitution.ofVars(values).expr(l.value()));
        lets(l.body(), values);
      }
      case Stmt.Alloc a -> lets(a.body(), values);
      case Stmt.Seq(List<Stmt> stmts) -> stmts.forEach(each -> lets(each, values));
      default -> {}
    }
  }

  /** An item's statements, with the copy exchanged for a consume of what was copied before. */
  private static final class Item {
    private final Pipe pipe;
    private final Stmt.TileCopy copy;
    private final Stmt another;

    Item(Pipe pipe, Stmt.TileCopy copy, Stmt another) {
      this.pipe = pipe;
      this.copy = copy;
      this.another = another;
    }

    Stmt in(Stmt s) {
      return switch (s) {
        case Stmt.Let(Var v, Expr value, Stmt body) -> new Stmt.Let(v, value, in(body));
        case Stmt.Alloc(Buffer buffer, Stmt body) ->
            buffer == copy.to().buffer() ? in(body) : new Stmt.Alloc(buffer, in(body));
        case Stmt.Seq(List<Stmt> stmts) -> {
          List<Stmt> result = new ArrayList<>();
          for (int i = 0; i < stmts.size(); i++) {
            if (stmts.get(i) != copy) {
              result.add(in(stmts.get(i)));
              continue;
            }
            List<Stmt> readers = new ArrayList<>();
            while (i + 1 < stmts.size() && reads(stmts.get(i + 1))) {
              readers.add(stmts.get(++i));
            }
            result.add(new Stmt.Flow.Consume(pipe, false, Stmts.seq(readers)));
            result.add(another);
          }
          for (Stmt each : result) {
            if (!(each instanceof Stmt.Flow) && !contains(each) && reads(each)) {
              throw new PassRefusal(
                  copy.to().buffer().name() + " is read later than right behind its copy");
            }
          }
          yield Stmts.seq(result);
        }
        default -> s;
      };
    }

    private boolean contains(Stmt s) {
      return (s instanceof Stmt.Let || s instanceof Stmt.Alloc) && find(s) == copy;
    }

    private boolean reads(Stmt s) {
      boolean[] found = {false};
      Walk.statements(
          s,
          each -> {
            Leaves leaves = Leaves.of(each);
            found[0] |=
                each != copy
                    && (leaves.reads().contains(copy.to().buffer())
                        || leaves.writes().contains(copy.to().buffer()));
          });
      return found[0];
    }
  }
}
