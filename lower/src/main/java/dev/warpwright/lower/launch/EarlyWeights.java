package dev.warpwright.lower.launch;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.FreshNames;
import dev.warpwright.ir.visit.LaunchOrder;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Lets a kernel begin before the launches before it have ended (programmatic dependent launch): its
 * ring is filled with what depends on none of them, its weights, before it waits for them. Where a
 * block goes from tile to tile, it is filled with those of the first.
 *
 * <pre>{@code
 *                                        launch_dependents
 *                                        for k in min(steps, stages) {
 *                                          expect full[k]: all bytes; weights -> ring[k]
 *                                        }
 * for k in steps {                       griddepcontrol.wait
 *   wait empty[s]                        for k in min(steps, stages) { activations -> ring[k] }
 *   expect full[s]: all bytes       →    for k in steps - min(steps, stages) {
 *   activations -> ring[s]                 wait empty[s]
 *   weights -> ring[s]                     expect full[s]: all bytes
 * }                                        activations, weights -> ring[s]
 *                                        }
 * }</pre>
 *
 * <p>The other role waits for the launches before at its beginning, which costs nothing where its
 * first stage needs what they wrote. It is the last pass, over kernels: which launch stands before
 * another, and what is constant, is known where a program is put together.
 */
public final class EarlyWeights {
  private final Set<String> constants;
  private final Stmt.@Nullable For tiles;
  private final Stmt.For loop;
  private final long stages;

  private EarlyWeights(Set<String> constants, Place place, long stages) {
    this.constants = constants;
    this.tiles = place.tiles();
    this.loop = place.steps();
    this.stages = stages;
  }

  /**
   * Where a ring is filled.
   *
   * @param tiles the loop in which a block goes from tile to tile; null if it has one tile
   * @param steps of a tile
   */
  private record Place(Stmt.@Nullable For tiles, Stmt.For steps) {}

  /**
   * The kernel that begins early.
   *
   * @param constants names of its parameters that no launch writes
   * @return empty if it has no ring that TMA copies fill in one loop, once a block, or nothing in
   *     it is constant, or all is
   */
  public static Optional<Kernel> of(Kernel kernel, Set<String> constants) {
    Place place = place(kernel.body());
    if (place == null
        || LaunchOrder.overlaps(kernel)
        || place.tiles() != null && !constants.containsAll(read(place.tiles(), place.steps()))) {
      return Optional.empty();
    }
    Stmt.For loop = place.steps();
    Set<String> read = new LinkedHashSet<>();
    Set<Buffer> rings = new HashSet<>();
    for (Stmt s : steps(loop.body())) {
      if (isLoad(s)) {
        for (Buffer buffer : addresses(s)) {
          if (isGlobal(buffer)) {
            read.add(buffer.name());
          } else if (buffer.scope() == Scope.SHARED && buffer.rank() > 1) {
            rings.add(buffer);
          }
        }
      } else if (!isWait(s) && !isExpected(s) && !isCursor(s)) {
        return Optional.empty();
      }
    }
    Set<String> early = new TreeSet<>(read);
    early.retainAll(constants);
    if (early.isEmpty() || early.size() == read.size() || rings.isEmpty()) {
      return Optional.empty();
    }
    Set<String> named = new TreeSet<>(constants);
    named.retainAll(kernel.buffers().stream().map(Buffer::name).toList());
    long stages = rings.iterator().next().extent(0);
    EarlyWeights pass = new EarlyWeights(early, place, stages);
    Stmt body = pass.role(kernel.body());
    return body == null
        ? Optional.empty()
        : Optional.of(
            with(
                kernel, body, kernel.attrs().with(LaunchOrder.CONSTANTS, String.join(" ", named))));
  }

  /**
   * The same for a kernel whose weights are read once: they do not drive from L2 what all launches
   * come back to, their instructions above all.
   *
   * @param constants names of its parameters that no launch writes
   */
  public static Optional<Kernel> streaming(Kernel kernel, Set<String> constants) {
    return of(kernel, constants)
        .map(
            early ->
                with(
                    early,
                    early.body(),
                    early
                        .attrs()
                        .with(
                            LaunchOrder.STREAMED,
                            String.join(" ", LaunchOrder.constants(early.attrs())))));
  }

  static Kernel with(Kernel kernel, Stmt body, Attrs attrs) {
    return new Kernel(
        kernel.name(), kernel.kind(), kernel.params(), kernel.bindings(), body, attrs);
  }

  /**
   * The only loop around TMA copies from global memory; null if there are several, or it is gone
   * through more than once, other than for each of a block's tiles.
   */
  private static @Nullable Place place(Stmt body) {
    List<Place> found = new ArrayList<>();
    find(body, false, found);
    if (found.size() != 1) {
      return null;
    }
    Stmt.For steps = found.getFirst().steps();
    return steps.kind() == ForKind.SERIAL && Exprs.isConst(steps.min(), 0)
        ? found.getFirst()
        : null;
  }

  private static void find(Stmt s, boolean inLoop, List<Place> found) {
    if (s instanceof Stmt.For f && f.kind() == ForKind.SERIAL && holdsLoad(f)) {
      Stmt.For inner = within(f.body());
      found.add(inner == null ? new Place(null, f) : new Place(f, inner));
      if (inLoop) {
        // Gone through several times: two entries are none.
        found.add(found.getLast());
      }
      return;
    }
    boolean loops = inLoop || s instanceof Stmt.For || s instanceof Stmt.While;
    Stmts.children(s).forEach(child -> find(child, loops, found));
  }

  /** The loop that is all there is, with the values that are bound for it; null if it is not. */
  private static Stmt.@Nullable For within(Stmt body) {
    return switch (body) {
      case Stmt.Let let -> within(let.body());
      case Stmt.For f when f.kind() == ForKind.SERIAL && holdsLoad(f) && !isLoad(f) -> f;
      default -> null;
    };
  }

  /** Names of what is read in global memory to know a tile. */
  private static Set<String> read(Stmt.For tiles, Stmt.For steps) {
    Set<String> names = new TreeSet<>();
    Walk.expressions(
        replaced(tiles, steps, Stmt.Seq.EMPTY),
        e -> {
          if (e instanceof Expr.Load load && isGlobal(load.buffer())) {
            names.add(load.buffer().name());
          }
        });
    return names;
  }

  private static Stmt replaced(Stmt s, Stmt.For steps, Stmt by) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt inner) {
        return inner == steps ? by : super.stmt(inner);
      }
    }.stmt(s);
  }

  static boolean holdsLoad(Stmt s) {
    boolean[] holds = {false};
    Walk.statements(s, inner -> holds[0] |= inner instanceof Stmt.Evaluate && isLoad(inner));
    return holds[0];
  }

  /** Whether a statement is, or only consists of, TMA copies from global memory. */
  private static boolean isLoad(Stmt s) {
    return switch (s) {
      case Stmt.For f -> isLoad(f.body());
      case Stmt.If(var _, Stmt then, Stmt otherwise) -> otherwise == null && isLoad(then);
      case Stmt.Let let -> isLoad(let.body());
      case Stmt.Seq(List<Stmt> stmts) ->
          !stmts.isEmpty() && stmts.stream().allMatch(EarlyWeights::isLoad);
      case Stmt.Evaluate e ->
          (HopperIntrinsics.isTmaLoad(e.call().op())
                  || e.call().op() == HopperIntrinsics.BULK_LOAD_LINEAR)
              && addresses(e).stream().anyMatch(EarlyWeights::isGlobal);
      default -> false;
    };
  }

  static boolean isGlobal(Buffer buffer) {
    return buffer.scope() == Scope.GLOBAL;
  }

  private static boolean isWait(Stmt s) {
    return s instanceof Stmt.Evaluate(Expr.Call call)
        && call.op() == HopperIntrinsics.MBARRIER_WAIT;
  }

  private static boolean isExpected(Stmt s) {
    return s instanceof Stmt.Evaluate(Expr.Call call)
        && call.op() == HopperIntrinsics.MBARRIER_ARRIVE_EXPECT_TX;
  }

  private static boolean isCursor(Stmt s) {
    return s instanceof Stmt.Store store && store.buffer().scope() == Scope.LOCAL;
  }

  private static List<Buffer> addresses(Stmt s) {
    List<Buffer> buffers = new ArrayList<>();
    Walk.expressions(
        s,
        e -> {
          if (e instanceof Expr.AddressOf address) {
            buffers.add(address.buffer());
          }
        });
    return buffers;
  }

  /** The statements of a step, inside of the values that are bound for it. */
  private static List<Stmt> steps(Stmt body) {
    return switch (body) {
      case Stmt.Let let -> steps(let.body());
      case Stmt.Seq(List<Stmt> stmts) -> stmts.stream().flatMap(s -> steps(s).stream()).toList();
      default -> List.of(body);
    };
  }

  /** A step with some of its statements. */
  private static Stmt only(Stmt body, Predicate<Stmt> kept) {
    return switch (body) {
      case Stmt.Let let when !isLoad(let) ->
          new Stmt.Let(let.var(), let.value(), only(let.body(), kept));
      case Stmt.Seq(List<Stmt> stmts) -> Stmts.seq(stmts.stream().map(s -> only(s, kept)).toList());
      default -> kept.test(body) ? body : Stmt.Seq.EMPTY;
    };
  }

  private boolean isEarly(Stmt s) {
    return isLoad(s)
        && addresses(s).stream()
            .filter(EarlyWeights::isGlobal)
            .allMatch(buffer -> constants.contains(buffer.name()));
  }

  /** The roles, of which the one with the loop fills early and the other one waits; or null. */
  private @Nullable Stmt role(Stmt s) {
    boolean[] placed = {false};
    Stmt changed =
        new Rewriter() {
          @Override
          public Stmt stmt(Stmt inner) {
            if (!placed[0]
                && inner instanceof Stmt.If(Expr condition, Stmt then, Stmt otherwise)
                && otherwise != null
                && (holds(then) || holds(otherwise))) {
              placed[0] = true;
              return new Stmt.If(
                  condition,
                  holds(then) ? producer(then) : waiting(then),
                  holds(otherwise) ? producer(otherwise) : waiting(otherwise));
            }
            return super.stmt(inner);
          }
        }.stmt(s);
    return placed[0] ? changed : null;
  }

  private boolean holds(Stmt s) {
    boolean[] found = {false};
    Walk.statements(s, inner -> found[0] |= inner == loop);
    return found[0];
  }

  static Stmt waiting(Stmt role) {
    return Stmts.seq(Exprs.evaluate(HopperIntrinsics.AWAIT_PREVIOUS), role);
  }

  private Stmt producer(Stmt role) {
    List<Stmt.Store> first = new ArrayList<>();
    Set<Buffer> cursors = new HashSet<>();
    steps(loop.body()).stream()
        .filter(EarlyWeights::isCursor)
        .forEach(s -> cursors.add(((Stmt.Store) s).buffer()));
    Walk.statements(
        role,
        s -> {
          if (s instanceof Stmt.Store store
              && cursors.contains(store.buffer())
              && store.value() instanceof Expr.IntImm) {
            first.add(store);
          }
        });
    return replaced(role, tiles == null ? loop : tiles, early(first));
  }

  private Stmt early(List<Stmt.Store> first) {
    Expr ahead = Exprs.min(loop.extent(), Exprs.i32(stages));
    List<Stmt> stmts = new ArrayList<>();
    stmts.add(Exprs.evaluate(HopperIntrinsics.SIGNAL_NEXT));
    stmts.add(inFirstTile(pass(ahead, s -> isExpected(s) || isCursor(s) || isEarly(s))));
    stmts.add(Exprs.evaluate(HopperIntrinsics.AWAIT_PREVIOUS));
    stmts.addAll(first);
    stmts.add(inFirstTile(pass(ahead, s -> isCursor(s) || isLoad(s) && !isEarly(s))));
    if (tiles != null) {
      Expr isFirst = Exprs.eq(tiles.var(), tiles.min());
      Stmt rest = from(Exprs.select(isFirst, ahead, Exprs.i32(0)));
      stmts.add(FreshNames.of(replaced(tiles, loop, rest)));
    } else if (!(loop.extent() instanceof Expr.IntImm steps) || steps.value() > stages) {
      stmts.add(from(ahead));
    }
    return Stmts.seq(stmts);
  }

  /** The steps from one on. */
  private Stmt from(Expr start) {
    Var more = Var.index("more");
    return Stmt.For.of(
        ForKind.SERIAL,
        more,
        Exprs.sub(loop.extent(), start),
        FreshNames.with(loop.var(), Exprs.add(start, more), loop.body()));
  }

  /** What is to be done for the first of a block's tiles, if it has any. */
  private Stmt inFirstTile(Stmt s) {
    if (tiles == null) {
      return s;
    }
    Stmt body = replaced(tiles.body(), loop, s);
    Expr any = Exprs.lt(Exprs.i32(0), tiles.extent());
    Stmt once = FreshNames.with(tiles.var(), tiles.min(), body);
    return Exprs.isConst(any, 1) ? once : new Stmt.If(any, once, null);
  }

  private Stmt pass(Expr ahead, Predicate<Stmt> kept) {
    Var k = Var.index(loop.var().name());
    return Stmt.For.of(
        ForKind.SERIAL, k, ahead, FreshNames.with(loop.var(), k, only(loop.body(), kept)));
  }
}
