package dev.warpwright.lower.flow;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.ir.visit.FlowSites;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.StageOfRing;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes rings of tiles and barriers of pipes in shared memory.
 *
 * <pre>{@code
 * pipe ring[4] shared (As) hold 1            alloc As[4, …], full: mbarrier[4], empty: mbarrier[4]
 * roles {                                    for one in 1 [elect = 1] { mbarrier.init … }
 *   role load {                              roles {
 *     for k in n {                             role load {
 *       produce ring {                           for one in 1 [elect = 1] {
 *         tile.copy As <- A[…]                     for k in n {
 *       }                                            mbarrier.wait(&empty[k % 4], k / 4 % 2 ^ 1)
 *     }                                              mbarrier.arrive.expect_tx(&full[k % 4], bytes)
 *   }                                    →           bulk.load.2d(&As[k % 4, 0, 0], &A[…], &full[k % 4], …)
 *   role math[2] as g {                        } } }
 *     for k in n {                             role math[2] as g {
 *       consume ring {                           for k in n {
 *         tile.mma acc += As * …                   mbarrier.wait(&full[k % 4], k / 4 % 2)
 *       }                                          tile.mma acc += As[k % 4, …] * …
 *     }                                            wgmma.wait(1)
 *   }                                              if k > 0 { one thread: mbarrier.arrive(&empty[(k + 3) % 4]) }
 * }                                              }
 *                                                wgmma.wait(0)
 *                                                one thread: mbarrier.arrive(&empty[(n + 3) % 4])
 * } }
 * }</pre>
 *
 * <p>A stage is full when its bytes are there, and empty when every warpgroup that reads it has
 * arrived once. <em>Who arrives</em> follows from what reads: products of the instance's warpgroup
 * hold its warps together, so one thread arrives behind their wait; other readers meet at a barrier
 * of the instance first; and where nothing is read, one thread alone waits and arrives, for no
 * other would be held to come by in time.
 *
 * <p>A pipe of one stage that is filled once and only looked at is resident: each of its slices has
 * a barrier that is waited for in an instance's first item, and nothing is ever given back. Pipes
 * in registers are renamed.
 *
 * <p>Products are under way for {@code hold} more steps of the innermost loop; behind the loop they
 * are waited for, and what is held is given back. Where no loop of steps is left, as of weights all
 * of whose slices share a stage, a stage is given back at the next site, wherever that is: in the
 * next item, or where stages of another instance's item only go by.
 *
 * <p>Guarantees: what remains to be waited for are products into accumulators that are not tied to
 * a stage ({@code LowerTiles} does that); every barrier's phases end in turn, each seen by all who
 * wait. Refuses stages that are skipped: a waiter might be two phases late.
 *
 * <p>Where all threads of a block fill pipes and read them, no barrier objects are needed ({@link
 * BlockPipes}).
 */
final class LowerPipes {
  static final String ELECT = "elect";
  static final String EACH = "each";

  private final PrimFunc func;
  private final FlowSites sites;
  private final Map<Pipe, LoweredPipe> pipes = new IdentityHashMap<>();
  private final List<LoweredPipe> order = new ArrayList<>();

  /** Of products of warps: all threads copy them, and no barrier stands for them. */
  private final List<Pipe> weights = new ArrayList<>();

  private LowerPipes(PrimFunc func) {
    this.func = func;
    this.sites = FlowSites.of(func.body());
  }

  static PrimFunc apply(PrimFunc func, PassListener listener) {
    return listener.tell("LowerPipes", apply(func));
  }

  /**
   * Lowers.
   *
   * @throws LoweringException if pipes ask for what barriers cannot do
   */
  static PrimFunc apply(PrimFunc func) {
    return !hasRoles(func)
        ? BlockPipes.apply(func)
        : func.withBody(new LowerPipes(func).block(func.body()));
  }

  /** Whether some of a block's threads do other than the others. */
  static boolean hasRoles(PrimFunc func) {
    boolean[] roles = {false};
    Walk.statements(func.body(), s -> roles[0] |= s instanceof Stmt.Flow.Roles);
    return roles[0];
  }

  /** Code of one thread among those that execute it. */
  static Stmt one(Stmt... stmts) {
    return one(1, stmts);
  }

  /** Code of each of so many threads. */
  static Stmt each(long threads, Stmt s) {
    return new Stmt.For(
        Var.index("t"),
        Exprs.i32(0),
        Exprs.i32(threads),
        ForKind.SERIAL,
        null,
        Attrs.NONE.with(EACH, 1),
        s);
  }

  /** Code of one thread of each of so many warpgroups. */
  static Stmt one(long groups, Stmt... stmts) {
    return new Stmt.For(
        Var.index("one"),
        Exprs.i32(0),
        Exprs.i32(groups),
        ForKind.SERIAL,
        null,
        Attrs.NONE.with(ELECT, 1),
        Stmts.seq(stmts));
  }

  /** Down to where the pipes are declared. */
  private Stmt block(Stmt s) {
    return switch (s) {
      case Stmt.For f when f.kind() == ForKind.THREAD_BOUND -> f.withBody(block(f.body()));
      case Stmt.Let l -> new Stmt.Let(l.var(), l.value(), block(l.body()));
      case Stmt.Seq(List<Stmt> stmts) when stmts.size() == 1 -> block(stmts.getFirst());
      case Stmt.Flow.PipeScope(Pipe pipe, Stmt body)
          when OrderedWeights.stay(pipe, body, sites) -> {
        weights.add(pipe);
        yield block(body);
      }
      case Stmt.Flow.PipeScope(Pipe pipe, Stmt body) when pipe.scope() != Scope.LOCAL -> {
        LoweredPipe lowered = LoweredPipe.of(pipe, sites);
        pipes.put(pipe, lowered);
        order.add(lowered);
        yield block(body);
      }
      default -> inside(s);
    };
  }

  private Stmt inside(Stmt s) {
    List<Buffer> shared = new ArrayList<>();
    List<Stmt> init = new ArrayList<>();
    for (LoweredPipe pipe : order) {
      shared.addAll(pipe.buffers());
      init.add(pipe.init());
    }
    if (!weights.isEmpty()) {
      if (!order.isEmpty()) {
        throw new LoweringException(func.name() + " has weights of warps and rings of others");
      }
      weights.forEach(pipe -> shared.addAll(pipe.buffers()));
      return Stmts.alloc(shared, roles(s));
    }
    if (order.isEmpty()) {
      throw new LoweringException(func.name() + " has no pipe in shared memory");
    }
    init.add(Exprs.evaluate(HopperIntrinsics.FENCE_MBARRIER_INIT));
    return Stmts.alloc(shared, Stmts.seq(one(Stmts.seq(init)), roles(s)));
  }

  private Stmt roles(Stmt s) {
    return switch (s) {
      case Stmt.Seq(List<Stmt> stmts) -> Stmts.seq(stmts.stream().map(this::roles).toList());
      case Stmt.If(Expr condition, Stmt then, @Nullable Stmt otherwise) when otherwise == null ->
          new Stmt.If(condition, roles(then), null);
      case Stmt.Flow.Roles(List<Role> roles) -> {
        List<Stmt> stmts =
            new ArrayList<>(weights.isEmpty() ? List.of() : OrderedWeights.arrived());
        stmts.add(new Stmt.Flow.Roles(roles.stream().map(this::role).toList()));
        yield Stmts.seq(stmts);
      }
      case Stmt.Flow.Produce produce ->
          weights.contains(produce.pipe()) ? produce.body() : one(body(null, produce));
      case Stmt.Comment _ -> s;
      default ->
          throw new LoweringException(
              "beside roles stand produces of resident tiles only; " + func.name() + " has others");
    };
  }

  private Role role(Role role) {
    Stmt body = body(role, role.body());
    return role.withBody(isOfOneThread(body) ? one(body) : body);
  }

  /** Whether nothing is left that takes several threads. */
  private static boolean isOfOneThread(Stmt s) {
    return switch (s) {
      case Stmt.TileCopy _, Stmt.TileFill _, Stmt.TileMma _, Stmt.TileMap _, Stmt.TileReduce _ ->
          false;
      case Stmt.For f when f.attrs().has(ELECT) -> false;
      default -> Stmts.children(s).stream().allMatch(LowerPipes::isOfOneThread);
    };
  }

  private Stmt body(@Nullable Role role, Stmt body) {
    PipeSteps steps = new PipeSteps(role, body, pipes, Simplify.ofParams(func.params()));
    return steps.lowered();
  }

  /** Exchanges a stage's tiles for those of the ring. */
  static Rewriter inRing(LoweredPipe pipe, Expr stage) {
    return new StageOfRing(pipe.rings(), pipe.resident() ? null : stage);
  }
}
