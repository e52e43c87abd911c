package dev.warpwright.lower.tile;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.FlowSites;
import dev.warpwright.ir.visit.FreshNames;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.PassListener;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides who fills pipes and who reads them.
 *
 * <pre>{@code
 * pipe ring[3] shared (As, Bs) lead 2        pipe ring[3] shared (As, Bs)
 * persistent t in n {                        roles {
 *   alloc acc                                  role load warps 1 [registers = 40] {
 *   for k in 4 {                                 persistent t in n { for k in 4 { produce ring { … } } }
 *     produce ring { … }                       }
 *     consume ring { tile.mma acc … }    →     role math[2] as g warps 4 {
 *   }                                            skip ring by g * 4
 *   tile.copy C <- acc                           persistent i in (n + 1 - g) / 2 {
 * }                                                let t = i * 2 + g
 *                                                  alloc acc
 *                                                  for k in 4 { consume ring { tile.mma acc … } }
 *                                                  tile.copy C <- acc
 *                                                  skip ring by 4
 *                                                }
 *                                              }
 *                                            }
 * }</pre>
 *
 * <p>The function's attribute {@code consumers} says how many instances read, each with work items
 * of its own; their persistent loop is dealt out to them in turn. Each is a warpgroup, or as many
 * warps as {@code warps} says. With {@code share = "rows"}, which is what {@code producers} asks
 * for, they are one instance of so many warps, and share the rows of each item. Without {@code
 * consumers} there are no roles: all threads fill pipes, by the pipe's {@code lead} ahead, and read
 * them.
 *
 * <p>Stages that are the same for each item, as weights are, are read by all instances, in rounds
 * of the one with the most items: behind its last item an instance that has one less reads the rest
 * without doing anything. What is filled but once, before the items, is no role's.
 *
 * <p>Items that are drawn ({@code tickets}) are drawn by the producer, which hands them on through
 * a pipe ({@link DrawnItems}); it also awaits what others have to write before it copies.
 *
 * <p>Guarantees: whatever copies from global memory that the program does not write into pipes is
 * done by {@code load} alone; loops, conditions and values are repeated in each role that needs
 * them, and are the same for both, for they depend on parameters and read-only memory alone. Each
 * role's statements keep their order, so a pipe's stages are read in the order in which they are
 * filled.
 *
 * <p>Stands behind {@link PlanPipes}: what does not flow through a pipe cannot be cut. A program
 * that cannot be cut is refused with the reason.
 */
public final class AssignRoles {
  /** Of the producer's threads; they hold addresses and little else. */
  private static final long PRODUCER_REGISTERS = 40;

  private static final int WARPS = 4;
  private static final int MOST_WARPS = 32;

  private final Set<Buffer> written;
  private final Set<Stmt.TileCopy> awaited;
  private final FlowSites sites;
  private final int consumers;
  private final int warps;
  private final boolean shareRows;

  private AssignRoles(PrimFunc func, int consumers, int warps, boolean shareRows) {
    this.warps = warps;
    this.written = TileFacts.written(func);
    this.awaited = TileFacts.awaited(func.body());
    this.sites = FlowSites.of(func.body());
    this.consumers = consumers;
    this.shareRows = shareRows;
  }

  public static PrimFunc apply(PrimFunc func, PassListener listener) {
    return listener.tell("AssignRoles", apply(func));
  }

  /**
   * Assigns.
   *
   * @throws PassRefusal if the program cannot be cut into roles
   */
  public static PrimFunc apply(PrimFunc func) {
    long consumers = func.attrs().getLong("consumers", 0);
    long warps = func.attrs().getLong("warps", WARPS);
    if (consumers < 0 || consumers * warps > MOST_WARPS) {
      throw new PassRefusal(
          func.name()
              + " has "
              + consumers
              + " consumers of "
              + warps
              + " warps; a block has up to "
              + MOST_WARPS
              + " warps");
    }
    if (consumers == 0) {
      return func;
    }
    String share = func.attrs().getString("share");
    if (share != null && !share.equals("rows") && !share.equals("items")) {
      throw new PassRefusal("consumers share \"rows\" or \"items\", not \"" + share + "\"");
    }
    boolean rows = share == null ? func.attrs().has("producers") : share.equals("rows");
    AssignRoles pass = new AssignRoles(func, (int) consumers, (int) warps, rows);
    Stmt body = TileFacts.insideBlock(func.body(), true, pass::roles);
    return func.withBody(pass.options(body))
        .withAttrs(
            func.attrs()
                .without("consumers")
                .without("producers")
                .without("share")
                .without("warps"));
  }

  /** Whether the producer can fill a pipe: it needs nothing that the program computes. */
  private boolean isFed(Pipe pipe) {
    if (pipe.scope() != Scope.SHARED) {
      return false;
    }
    for (FlowSites.Site site : sites.of(pipe)) {
      if (site.kind() == FlowSites.Kind.PRODUCE && !isFeed(((Stmt.Flow.Produce) site.stmt()))) {
        return false;
      }
    }
    return true;
  }

  /** Whether a produce only copies what nobody writes, or what has been written. */
  private boolean isFeed(Stmt.Flow.Produce produce) {
    boolean[] feed = {true};
    Walk.statements(
        produce.body(),
        s -> {
          switch (s) {
            case Stmt.TileCopy copy ->
                feed[0] &=
                    copy.from().buffer().scope() == Scope.GLOBAL
                        && (!written.contains(copy.from().buffer()) || awaited.contains(copy));
            case Stmt.Seq _, Stmt.Comment _ -> {}
            case Stmt.For f ->
                feed[0] &=
                    TileFacts.isPure(f.min(), written) && TileFacts.isPure(f.extent(), written);
            default -> feed[0] = false;
          }
        });
    return feed[0];
  }

  private Stmt roles(Stmt block) {
    Set<Pipe> fed = new HashSet<>();
    Walk.statements(
        block,
        s -> {
          switch (s) {
            case Stmt.Flow.Produce(Pipe pipe, Stmt body) -> {
              if (isFed(pipe)) {
                fed.add(pipe);
              }
            }
            case Stmt.Flow.Roles _ -> throw new PassRefusal("the program has roles already");
            case Stmt.Flow.PipeScope(Pipe pipe, Stmt body) ->
                throw new PassRefusal("pipe " + pipe.name() + " is declared inside a loop");
            default -> {}
          }
        });
    if (fed.isEmpty()) {
      throw new PassRefusal("no pipe is filled by copies from global memory alone");
    }
    Stmt load = new Slice(fed, true).of(block);
    Stmt math = new Slice(fed, false).of(block);
    if (load == null || math == null) {
      throw new PassRefusal("one of the roles would have nothing to do");
    }
    Var g = consumers > 1 && !shareRows ? Var.index("g") : null;
    DealItems deal = new DealItems(consumers);
    Stmt body = math;
    Stmt filled = load;
    if (g != null && deal.sameForEachItem(math, load)) {
      body = deal.inRounds(math, g);
      filled = deal.perRound(load);
    } else if (g != null) {
      body = deal.inTurn(math, g);
    }
    Stmt.For drawn = DrawnItems.loop(load);
    if (drawn != null) {
      if (g != null) {
        throw new PassRefusal("items that are drawn are one consumer's, or share = \"rows\"");
      }
      DrawnItems items = new DrawnItems(stages(fed));
      return items.handedOn(producer(items.drawing(filled)), math(null, items.following(body)));
    }
    if (isOnce(filled)) {
      return Stmts.seq(FreshNames.of(filled), new Stmt.Flow.Roles(List.of(math(g, body))));
    }
    return new Stmt.Flow.Roles(List.of(producer(filled), math(g, body)));
  }

  private static Role producer(Stmt filled) {
    return new Role(
        "load",
        null,
        1,
        1,
        Attrs.NONE.with("registers", PRODUCER_REGISTERS),
        FreshNames.of(FillOrder.apply(filled)));
  }

  private static int stages(Set<Pipe> fed) {
    return fed.stream().mapToInt(Pipe::stages).max().orElse(1);
  }

  /** Instances with items of their own, or one of all their warps. */
  private Role math(@Nullable Var g, Stmt body) {
    return shareRows
        ? new Role("math", null, 1, warps * consumers, Attrs.NONE, body)
        : new Role("math", g, consumers, warps, Attrs.NONE, body);
  }

  /** What one of the roles does; null if that is nothing. */
  private final class Slice {
    private final Set<Pipe> fed;
    private final boolean producer;

    /**
     * Buffers of what was kept so far: whoever declares them is looked at behind what uses them.
     */
    private final Set<Buffer> touched = new HashSet<>();

    Slice(Set<Pipe> fed, boolean producer) {
      this.fed = fed;
      this.producer = producer;
    }

    @Nullable Stmt of(Stmt s) {
      return switch (s) {
        case Stmt.Seq(List<Stmt> stmts) -> {
          List<Stmt> kept = new ArrayList<>();
          for (Stmt each : stmts) {
            Stmt slice = of(each);
            if (slice != null) {
              kept.add(slice);
            }
          }
          yield kept.isEmpty() ? null : Stmts.seq(kept);
        }
        case Stmt.For f -> {
          Stmt body = of(f.body());
          if (body != null) {
            control(f.min());
            control(f.extent());
            touch(f);
          }
          yield body == null ? null : f.withBody(body);
        }
        case Stmt.If(Expr condition, Stmt then, Stmt otherwise) -> {
          Stmt first = of(then);
          Stmt second = otherwise == null ? null : of(otherwise);
          if (first == null && second == null) {
            yield null;
          }
          control(condition);
          touch(s);
          yield new Stmt.If(condition, first == null ? Stmt.Seq.EMPTY : first, second);
        }
        case Stmt.Let(Var v, Expr value, Stmt inner) -> {
          Stmt body = of(inner);
          boolean needed = body != null && TileFacts.mentions(body, List.of(v));
          // What both may know of a shared item stays: simplifying is not this pass's work.
          if (body == null || !needed && !(shareRows && TileFacts.isPure(value, written))) {
            yield body;
          }
          control(value);
          touch(s);
          yield new Stmt.Let(v, value, body);
        }
        case Stmt.Alloc(Buffer buffer, Stmt inner) -> {
          Stmt body = of(inner);
          yield body == null || !touched.contains(buffer) ? body : new Stmt.Alloc(buffer, body);
        }
        case Stmt.Flow.Produce(Pipe pipe, Stmt body) ->
            producer == fed.contains(pipe) ? whole(s) : null;
        case Stmt.Flow.Consume(Pipe pipe, boolean peek, Stmt inner) -> {
          if (producer) {
            yield of(inner);
          }
          Stmt body = of(inner);
          yield new Stmt.Flow.Consume(pipe, peek, body == null ? Stmt.Seq.EMPTY : body);
        }
        case Stmt.While w -> throw new PassRefusal("a while loop cannot be cut into roles");
        // Who is awaited has written what is copied, and all that is copied the producer copies.
        case Stmt.Flow.Await _ -> producer ? s : null;
        default -> producer ? null : whole(s);
      };
    }

    private Stmt whole(Stmt s) {
      Walk.statements(s, this::touch);
      return s;
    }

    private void touch(Stmt s) {
      Leaves leaves = Leaves.of(s);
      touched.addAll(leaves.reads());
      touched.addAll(leaves.writes());
    }

    private void control(Expr e) {
      if (producer && !TileFacts.isPure(e, written)) {
        throw new PassRefusal("the producer cannot know a condition or bound that is computed");
      }
    }
  }

  /** Whether all that is filled is so before the items, once. */
  private boolean isOnce(Stmt load) {
    return TileFacts.loops(load, ForKind.PERSISTENT).isEmpty()
        && isOutsideOfLoops(load)
        && consumers > 0;
  }

  private static boolean isOutsideOfLoops(Stmt s) {
    return switch (s) {
      case Stmt.For f -> !FlowSites.isIn(f);
      case Stmt.Flow.Produce _ -> true;
      default -> Stmts.children(s).stream().allMatch(AssignRoles::isOutsideOfLoops);
    };
  }

  /** With roles there is no lead; what every instance reads outside of its items, all read. */
  private Stmt options(Stmt body) {
    FlowSites after = FlowSites.of(body);
    Map<Pipe, Pipe> changed = new IdentityHashMap<>();
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.Flow.PipeScope(Pipe pipe, Stmt inner)) {
            boolean skipped =
                after.of(pipe).stream().anyMatch(site -> site.kind() == FlowSites.Kind.SKIP);
            Pipe.Options options = pipe.options().withLead(0);
            if (!skipped && consumers > 1 && !shareRows) {
              options = options.withConsumers(Pipe.Consumers.BROADCAST);
            }
            changed.put(pipe, pipe.withOptions(options));
          }
        });
    return new Rewriter() {
      @Override
      protected Pipe pipe(Pipe pipe) {
        return changed.getOrDefault(pipe, pipe);
      }
    }.stmt(body);
  }
}
