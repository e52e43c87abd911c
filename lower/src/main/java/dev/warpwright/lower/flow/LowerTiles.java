package dev.warpwright.lower.flow;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.block.BlockTiles;
import dev.warpwright.lower.block.TilesOfWarps;
import dev.warpwright.lower.gpu.ClusterSums;
import dev.warpwright.lower.gpu.OperandRing;
import dev.warpwright.lower.gpu.WarpRoles;
import dev.warpwright.lower.gpu.WarpgroupInstruction;
import dev.warpwright.lower.grid.TicketLoops;
import dev.warpwright.lower.pass.GridLoops;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.target.GpuTarget;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tiles and roles to threads.
 *
 * <pre>{@code
 * roles {                                       if tid < 128 {
 *   role load { one thread: … }                   setmaxnreg.dec(40)
 *   role math[2] as g {                           if tid == 0 { … }
 *     tile.mma acc += As[s, …] * Bs[s, …]^T   →  } else {
 *     tile.map … acc …                              setmaxnreg.inc(232)
 *   }                                               wgmma.fence() … wgmma.commit() …
 * }                                               }
 * }</pre>
 *
 * <p>An instance of a role that computes is one warpgroup or several, of a role that copies one
 * thread of a warp or, where that lets the others have more registers, of a warpgroup ({@link
 * WarpRoles}), or all threads of one ({@link CopyingThreads}). What stands beside the roles is one
 * thread's; all threads meet once before the roles, and see the barriers.
 *
 * <p>Cases of their own are warps that compute each for itself ({@link WarpTiles}) and, without
 * roles, blocks all of whose threads fill rings and multiply ({@link RingTiles}) or go from tile to
 * tile ({@link BlockTiles}).
 *
 * <p>Stands behind {@code LowerPipes}; the result is a kernel, and what is left is to simplify it.
 */
final class LowerTiles {
  private final PrimFunc func;
  private final Map<Buffer, OperandRing> rings = new HashMap<>();
  private final List<Buffer> shared = new ArrayList<>();
  private final List<Buffer> barriers = new ArrayList<>();
  private final Var tid = Var.index("tid");
  private final List<Stmt.Let> around = new ArrayList<>();
  private final ClusterBlocks cluster;
  private final List<Param> params = new ArrayList<>();
  private Expr blocks = Exprs.i32(1);
  private int threads;

  private LowerTiles(PrimFunc func) {
    this.func = func;
    this.cluster = new ClusterBlocks(func);
    this.params.addAll(func.params());
  }

  static Kernel apply(PrimFunc func, GpuTarget target, PassListener listener) {
    return listener.tell("LowerTiles", kernel(func, target, listener));
  }

  private static Kernel kernel(PrimFunc func, GpuTarget target, PassListener listener) {
    if (LowerPipes.hasRoles(func)) {
      return WarpTiles.are(func)
          ? WarpTiles.kernel(func, target)
          : new LowerTiles(func).kernel(target);
    }
    return RingTiles.are(func) ? RingTiles.kernel(func) : BlockTiles.kernel(func, listener);
  }

  private Kernel kernel(GpuTarget target) {
    List<ThreadBinding> bindings = new ArrayList<>();
    Stmt body = cluster.shared(inRings(block(func.body(), bindings)));
    if (threads == 0) {
      throw new LoweringException(func.name() + " has no roles");
    }
    if (threads > GpuTarget.THREADS_PER_BLOCK) {
      throw new LoweringException(
          func.name() + " has roles of " + threads + " threads; a block has at most 1024");
    }
    for (Stmt.Let l : around.reversed()) {
      body = new Stmt.Let(l.var(), l.value(), body);
    }
    // Tiles first: they ask for more alignment.
    shared.addAll(barriers);
    bindings.add(new ThreadBinding(ThreadAxis.THREAD_X, tid, Exprs.i32(threads)));
    Attrs attrs =
        func.attrs()
            .without("threads")
            .with("arch", target.name())
            .with("fast", 1)
            .with("minBlocks", func.attrs().getLong("minBlocks", 1));
    return new Kernel(
        func.name(), Kernel.Kind.GRID, params, bindings, Stmts.alloc(shared, body), attrs);
  }

  private Stmt block(Stmt s, List<ThreadBinding> bindings) {
    return switch (s) {
      case Stmt.For f when GridLoops.is(f) -> {
        bindings.add(GridLoops.binding(f));
        blocks = Exprs.mul(blocks, f.extent());
        yield block(f.body(), bindings);
      }
      case Stmt.Alloc(Buffer buffer, Stmt body)
          when buffer.scope() == Scope.SHARED || buffer.scope() == Scope.SHARED_CLUSTER -> {
        if (buffer.dtype() == DType.MBARRIER) {
          barriers.add(cluster.own(buffer));
        } else if (buffer.rank() == 1) {
          barriers.addFirst(buffer);
        } else {
          OperandRing ring = SwizzledTile.operands(buffer);
          rings.put(buffer, ring);
          shared.add(ring.ring());
        }
        yield block(body, bindings);
      }
      case Stmt.Let l -> {
        around.add(cluster.let(l, bindings.getLast().var()));
        yield block(l.body(), bindings);
      }
      case Stmt.Seq(List<Stmt> stmts) when stmts.size() == 1 -> block(stmts.getFirst(), bindings);
      case Stmt.Seq(List<Stmt> stmts) -> {
        List<Stmt> result = new ArrayList<>();
        result.add(beside(stmts.getFirst()));
        result.add(cluster.together());
        stmts.subList(1, stmts.size()).forEach(each -> result.add(beside(each)));
        if (!cluster.isOne() && !cluster.isPaired()) {
          result.add(ClusterBlocks.parting());
        }
        yield Stmts.seq(result);
      }
      default -> throw new LoweringException(func.name() + " is no block of roles");
    };
  }

  /** What stands beside the roles, or holds them. */
  private Stmt beside(Stmt s) {
    return switch (s) {
      case Stmt.For f when f.attrs().has(LowerPipes.ELECT) ->
          new Stmt.If(Exprs.eq(tid, Exprs.i32(0)), f.body(), null);
      case Stmt.Seq(List<Stmt> stmts) -> Stmts.seq(stmts.stream().map(this::beside).toList());
      case Stmt.If(Expr condition, Stmt then, @Nullable Stmt otherwise) when otherwise == null ->
          new Stmt.If(condition, beside(then), null);
      case Stmt.Flow.Roles(List<Role> roles) -> roles(roles);
      case Stmt.Comment _ -> s;
      default -> throw new LoweringException("beside roles only one thread does anything");
    };
  }

  private static boolean isOfOneThread(Role role) {
    return StageNumbers.flat(role.body()).stream()
        .allMatch(s -> s instanceof Stmt.For f && f.attrs().has(LowerPipes.ELECT));
  }

  private static boolean isCopying(Role role) {
    return isOfOneThread(role) || CopyingThreads.are(role);
  }

  private Stmt roles(List<Role> roles) {
    List<Role> copying = roles.stream().filter(LowerTiles::isCopying).toList();
    List<Role> computing = roles.stream().filter(r -> !isCopying(r)).toList();
    if (copying.size() > 1 || computing.size() != 1 || threads != 0) {
      throw new LoweringException(
          func.name() + " has other roles than one that computes and perhaps one that copies");
    }
    Role role = computing.getFirst();
    if (role.warps() * 32 % WarpgroupInstruction.THREADS != 0) {
      throw new LoweringException("role " + role.name() + " is no warpgroups, but computes");
    }
    int groups = role.instances() * LoweredPipe.groups(role);
    int minBlocks = (int) Math.max(1, func.attrs().getLong("minBlocks", 1));
    if (copying.isEmpty()) {
      threads = groups * WarpgroupInstruction.THREADS;
      boolean one = groups == 1;
      Expr group = one ? Exprs.i32(0) : Exprs.div(tid, WarpgroupInstruction.THREADS);
      int registers = WarpRoles.launchRegisters(threads * minBlocks);
      Expr inGroup = one ? tid : Exprs.mod(tid, WarpgroupInstruction.THREADS);
      return computing(role, tid, group, inGroup, registers);
    }
    Role producer = copying.getFirst();
    boolean all = !isOfOneThread(producer);
    WarpRoles branch =
        new WarpRoles(
            groups,
            minBlocks,
            RoleCode.registers(
                role.body(), LoweredPipe.groups(role) * WarpgroupInstruction.THREADS),
            !all
                ? WarpRoles.Producer.ONE_THREAD
                : CopyingThreads.transpose(producer)
                    ? WarpRoles.Producer.TRANSPOSING
                    : WarpRoles.Producer.COPYING);
    threads = branch.threads();
    return branch.branch(
        tid,
        all ? allThreads(producer, branch) : oneThread(producer),
        cluster.isPaired() ? ClusterSums.meet() : Stmt.Seq.EMPTY,
        thread ->
            computing(
                role,
                thread,
                branch.group(thread),
                branch.inGroup(thread),
                branch.consumerRegisters()));
  }

  private Stmt allThreads(Role role, WarpRoles branch) {
    Var thread = Var.index("thread");
    Set<Buffer> written = new HashSet<>();
    Walk.statements(func.body(), s -> written.addAll(Leaves.of(s).writes()));
    CopyingThreads code =
        new CopyingThreads(rings, thread, role.warps() * 32, branch.producerRegisters(), written);
    return new Stmt.Let(thread, branch.inProducer(tid), code.lowered(role.body()));
  }

  /** The code of a role of one thread. */
  private Stmt oneThread(Role role) {
    List<Stmt> stmts = new ArrayList<>();
    for (Stmt s : StageNumbers.flat(role.body())) {
      stmts.add(
          TicketLoops.ofThread(func, blocks).drawn(TilesOfWarps.serial(((Stmt.For) s).body())));
    }
    return Stmts.seq(stmts);
  }

  /**
   * The code of a role's threads.
   *
   * @param thread the thread among them
   * @param group its warpgroup
   * @param inGroup its number there
   * @param registers of 32 bits that a thread has
   */
  private Stmt computing(Role role, Var thread, Expr group, Expr inGroup, int registers) {
    Var number = Var.index("thread");
    Var instance = role.instance() == null ? Var.index("group") : role.instance();
    int groups = LoweredPipe.groups(role);
    RoleCode.Team team =
        new RoleCode.Team(
            role.instances(), groups, instance, groups == 1 ? number : thread, number, registers);
    RoleCode code = new RoleCode(role.body(), team, rings, cluster, func);
    Stmt body = inRings(code.lowered(role.body()));
    shared.addAll(code.shared());
    params.addAll(code.params());
    return new Stmt.Let(instance, group, new Stmt.Let(number, inGroup, body));
  }

  private Stmt inRings(Stmt body) {
    return inRings(body, rings);
  }

  /** Addresses in rings, and elements that threads read there, count the panels. */
  static Stmt inRings(Stmt body, Map<Buffer, OperandRing> rings) {
    return new Rewriter() {
      @Override
      public Expr expr(Expr e) {
        return switch (e) {
          case Expr.AddressOf(Buffer buffer, List<Expr> indices)
              when rings.get(buffer) instanceof OperandRing ring ->
              new Expr.AddressOf(ring.ring(), place(ring, indices));
          case Expr.Load(Buffer buffer, List<Expr> indices)
              when rings.get(buffer) instanceof OperandRing ring ->
              new Expr.Load(ring.ring(), place(ring, indices));
          default -> super.expr(e);
        };
      }

      private List<Expr> place(OperandRing ring, List<Expr> indices) {
        List<Expr> at = exprs(indices);
        return ring.indices(at.get(0), at.get(1), at.get(2));
      }
    }.stmt(body);
  }
}
