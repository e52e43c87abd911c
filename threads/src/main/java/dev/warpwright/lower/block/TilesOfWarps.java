package dev.warpwright.lower.block;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.FragmentInference;
import dev.warpwright.lower.gpu.ThreadCode;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What {@link BlockTiles} does, for warps that each have tiles in shared memory of their own: the
 * barriers between tile statements are those of a warp, and each warp has an arena.
 */
public final class TilesOfWarps {
  private static final int WARP = 32;

  private TilesOfWarps() {}

  /** Bytes of shared memory that each of the warps needs. */
  public static long bytes(Stmt body) {
    long bytes = 0;
    for (var arena : plan(body).arenaSizes().entrySet()) {
      bytes += arena.getValue() * arena.getKey().bytes();
    }
    return bytes;
  }

  /** What is allocated in the body; other tiles in shared memory are the block's, and only read. */
  private static SharedPlan plan(Stmt body) {
    Set<Buffer> own = new HashSet<>();
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.Alloc(Buffer buffer, Stmt _) && buffer.scope() == Scope.SHARED) {
            own.add(buffer);
          }
        });
    return SharedPlan.of(item(body), own::contains);
  }

  /** What is done for an item: no tile is alive from one to the next. */
  private static Stmt item(Stmt s) {
    return switch (s) {
      case Stmt.If i when i.otherwise() == null -> item(i.then());
      case Stmt.Let l -> item(l.body());
      case Stmt.Seq(List<Stmt> stmts) when !stmts.isEmpty() -> item(stmts.getFirst());
      case Stmt.For f -> f.body();
      default -> s;
    };
  }

  /**
   * The code of a warp's threads.
   *
   * @param body around the loop over items stand conditions that are the same for all of a warp
   * @param lane the thread in its warp
   * @param warp its number
   * @param warps how many there are
   * @param arenas where what the block has to allocate is added
   */
  public static Stmt lowered(Stmt body, Var lane, Expr warp, int warps, List<Buffer> arenas) {
    Map<Buffer, FragmentLayout> layouts = FragmentInference.infer(body, WARP);
    SharedPlan plan = plan(body);
    Stmt with = inItems(body, new BarrierInsertion(plan, Intrinsics.SYNC_WARP));
    ThreadCode code = new ThreadCode(lane, WARP, layouts);
    Stmt threads = serial(new BlockTiles.TilesToThreads(code).stmt(with));
    code.turned().forEach((tile, standing) -> plan.place(standing, tile));
    return FlattenShared.ofTeams(threads, plan, warp, warps, arenas);
  }

  private static Stmt inItems(Stmt s, BarrierInsertion barriers) {
    return switch (s) {
      case Stmt.If i when i.otherwise() == null ->
          new Stmt.If(i.condition(), inItems(i.then(), barriers), null);
      case Stmt.Let l -> new Stmt.Let(l.var(), l.value(), inItems(l.body(), barriers));
      default -> barriers.in(s);
    };
  }

  /** Loops over items are loops. */
  public static Stmt serial(Stmt s) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt inner) {
        Stmt result = super.stmt(inner);
        return result instanceof Stmt.For f ? f.ofThreads(f.body()) : result;
      }
    }.stmt(s);
  }
}
