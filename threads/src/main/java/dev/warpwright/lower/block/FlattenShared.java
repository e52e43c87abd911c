package dev.warpwright.lower.block;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Replaces the shared buffers by one arena for each element type, as {@link SharedPlan} placed
 * them. From here on it is plain in the program which buffers share space, so that the simulator
 * sees a race between them as the hardware would.
 */
final class FlattenShared extends Rewriter {
  private final SharedPlan plan;
  private final Map<DType, Buffer> arenas = new EnumMap<>(DType.class);

  /** Which of the teams of threads that have such an arena each, and how many there are. */
  private final Expr team;

  private FlattenShared(SharedPlan plan, Expr team, int teams) {
    this.plan = plan;
    this.team = team;
    plan.arenaSizes()
        .forEach(
            (dtype, size) ->
                arenas.put(
                    dtype,
                    new Buffer(
                        "smem_" + dtype.text(),
                        dtype,
                        List.of(Exprs.i32(size * teams)),
                        Scope.SHARED,
                        null,
                        128)));
  }

  static Stmt apply(Stmt body, SharedPlan plan) {
    FlattenShared pass = new FlattenShared(plan, Exprs.i32(0), 1);
    return Stmts.alloc(new ArrayList<>(pass.arenas.values()), pass.stmt(body));
  }

  /**
   * The same for teams of threads with an arena each. Other shared buffers stay as they are.
   *
   * @param team the number of a thread's team
   * @param arenas where those that the block has to allocate are added
   */
  static Stmt ofTeams(Stmt body, SharedPlan plan, Expr team, int teams, List<Buffer> arenas) {
    FlattenShared pass = new FlattenShared(plan, team, teams);
    arenas.addAll(pass.arenas.values());
    return pass.stmt(body);
  }

  @Override
  public Stmt stmt(Stmt s) {
    return switch (s) {
      case Stmt.Alloc(Buffer buffer, Stmt inner) when buffer.scope() == Scope.SHARED -> stmt(inner);
      case Stmt.Store(Buffer buffer, List<Expr> indices, Expr value) when isPlanned(buffer) ->
          new Stmt.Store(arena(buffer), at(buffer, indices), expr(value));
      default -> super.stmt(s);
    };
  }

  @Override
  public Expr expr(Expr e) {
    if (e instanceof Expr.Load(Buffer buffer, List<Expr> indices) && isPlanned(buffer)) {
      return new Expr.Load(arena(buffer), at(buffer, indices));
    }
    if (e instanceof Expr.AddressOf(Buffer buffer, List<Expr> indices) && isPlanned(buffer)) {
      return new Expr.AddressOf(arena(buffer), at(buffer, indices));
    }
    return super.expr(e);
  }

  private boolean isPlanned(Buffer buffer) {
    return buffer.scope() == Scope.SHARED && plan.has(buffer);
  }

  private Buffer arena(Buffer buffer) {
    Buffer arena = arenas.get(buffer.dtype());
    if (arena == null) {
      throw new LoweringException("no arena for " + buffer);
    }
    return arena;
  }

  private List<Expr> at(Buffer buffer, List<Expr> indices) {
    List<Expr> scalar = new ArrayList<>();
    int lanes = 1;
    for (Expr index : indices) {
      if (index instanceof Expr.Ramp(Expr base, long stride, int width) && stride == 1) {
        lanes = width;
        scalar.add(expr(base));
      } else {
        scalar.add(expr(index));
      }
    }
    Layout layout = buffer.layout();
    long[] shape = new long[buffer.rank()];
    for (int d = 0; d < shape.length; d++) {
      shape[d] = buffer.extent(d);
    }
    Expr offset = (layout == null ? Layout.rowMajor(shape) : layout).offset(scalar);
    Expr own = Exprs.mul(team, plan.arenaSizes().getOrDefault(buffer.dtype(), 0L));
    Expr at = Exprs.add(offset, plan.place(buffer).offset());
    return ThreadCode.ramped(List.of(Exprs.add(own, at)), lanes);
  }
}
