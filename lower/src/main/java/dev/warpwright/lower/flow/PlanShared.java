package dev.warpwright.lower.flow;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.block.TilesOfWarps;
import dev.warpwright.lower.copy.StoredRows;
import dev.warpwright.lower.gpu.OperandRing;
import dev.warpwright.lower.gpu.StagedStore;
import dev.warpwright.lower.gpu.TileSums;
import dev.warpwright.lower.gpu.WarpgroupInstruction;
import dev.warpwright.lower.item.ResultTile;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.target.GpuTarget;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Settles what lies in shared memory at once: all pipes and what roles allocate, each instance for
 * itself, for roles run at the same time. A program that does not fit is refused here, by bytes and
 * name of what is largest, before barriers and threads hide why.
 *
 * <p>Changes nothing: pipes that live at the same time share no space, and their number of stages
 * is what the schedule says. Stands behind {@code ChooseMovement}, whose layouts say how large
 * tiles are.
 */
final class PlanShared {
  private static final int BARRIER = 8;

  /** Tiles of results, through which those of several GEMMs may leave. */
  private final Set<Buffer> results = new HashSet<>();

  private long bytes;
  private long largest;
  private String name = "";

  private final boolean roles;
  private final @Nullable String store;

  private PlanShared(PrimFunc func) {
    this.roles = LowerPipes.hasRoles(func);
    this.store = roles ? func.attrs().getString("store") : "direct";
  }

  static PrimFunc apply(PrimFunc func, GpuTarget target, PassListener listener) {
    PlanShared plan = new PlanShared(func);
    plan.visit(func.body(), 1, 1);
    long most = (long) target.sharedPerBlock();
    if (plan.bytes > most) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "%s needs %d bytes of shared memory, a block has %d; %s takes %d of them",
              func.name(),
              plan.bytes,
              most,
              plan.name,
              plan.largest));
    }
    return listener.tell("PlanShared", func);
  }

  private void add(String what, long more) {
    bytes += more;
    if (more > largest) {
      largest = more;
      name = what;
    }
  }

  /**
   * Adds up.
   *
   * @param instances of the role
   * @param groups warpgroups of an instance
   */
  private void visit(Stmt s, int instances, int groups) {
    switch (s) {
      case Stmt.Flow.Roles(List<Role> roles) ->
          roles.forEach(
              role -> {
                if (WarpTiles.areByFma(role.body())) {
                  add(
                      "what role " + role.name() + " allocates",
                      role.instances() * TilesOfWarps.bytes(role.body()));
                }
                addRows(role);
                visit(role.body(), role.instances(), LoweredPipe.groups(role));
              });
      case Stmt.Flow.PipeScope(var pipe, Stmt body) -> {
        if (pipe.scope() != Scope.LOCAL) {
          long stage = pipe.buffers().stream().mapToLong(PlanShared::size).sum();
          long barriers = roles ? 2 * BARRIER : 0;
          add("pipe " + pipe.name(), pipe.stages() * (stage + barriers));
        }
        visit(body, instances, groups);
      }
      case Stmt.Seq(List<Stmt> stmts) -> {
        for (int i = 0; i < stmts.size(); i++) {
          ResultTile tile = i == 0 ? null : RoleCode.tile(stmts.get(i - 1), stmts.get(i));
          ResultTile.Way way = tile == null ? ResultTile.Way.REGISTERS : tile.way(store);
          if (tile != null && way != ResultTile.Way.REGISTERS && results.add(tile.tile())) {
            add(tile.tile().name(), instances * groups * panels(tile.tile(), way, groups));
          }
          visit(stmts.get(i), instances, groups);
        }
      }
      case Stmt.Alloc(Buffer buffer, Stmt body) -> {
        if (TileSums.isVector(buffer)) {
          add(buffer.name(), size(buffer));
        }
        visit(body, instances, groups);
      }
      default -> Stmts.children(s).forEach(child -> visit(child, instances, groups));
    }
  }

  /** Each warp of a role has a place for rows of results. */
  private void addRows(Role role) {
    Set<Buffer> stored = new HashSet<>();
    Walk.statements(
        role.body(),
        s -> {
          if (s instanceof Stmt.TileCopy copy && StoredRows.are(copy)) {
            stored.add(copy.to().buffer());
          }
        });
    long warps = (long) role.instances() * role.warps();
    stored.forEach(b -> add("rows of " + b.name(), warps * StoredRows.bytes(b)));
  }

  /** Results leave by panels of a warpgroup, two of which take turns. */
  private static long panels(Buffer buffer, ResultTile.Way way, int groups) {
    long across =
        way == ResultTile.Way.TRANSPOSED
            ? StagedStore.height(buffer.extent(0))
            : OperandRing.panelWidth(buffer.extent(1), buffer.dtype().bytes());
    long panel = WarpgroupInstruction.ROWS * across * buffer.dtype().bytes();
    return Math.min(2 * panel, size(buffer) / groups);
  }

  private static long size(Buffer buffer) {
    return buffer.storageElements() * buffer.dtype().bytes();
  }
}
