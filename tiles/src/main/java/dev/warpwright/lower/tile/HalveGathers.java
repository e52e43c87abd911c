package dev.warpwright.lower.tile;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.RowPairs;
import dev.warpwright.lower.gpu.WarpgroupInstruction;
import dev.warpwright.lower.pass.PassListener;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Gathers a product's first operand by halves of a step of K: one is on its way to registers while
 * the product of the other is under way.
 *
 * <pre>{@code
 * pipeline k in n {                              pipeline k in n {
 *   tile.copy As <- A[…];  tile.copy Bs <- B[…]    tile.copy As <- A[…];  tile.copy Bs <- B[…]
 *   tile.map (i, k in 32) {                        tile.map (i, k in 16) { held[i, k] = As[k, i] }
 *     held[i, k] = As[k, i] }                      tile.mma acc += held * Bs[…, 0 +: 16]^T
 *   tile.mma acc += held * Bs^T              →     tile.map (i, k in 16) { held_1[i, k] = As[k + 16, i] }
 * }                                                tile.mma acc += held_1 * Bs[…, 16 +: 16]^T
 *                                                }
 * }</pre>
 *
 * <p>Stands in front of {@code PlanPipes}, which lets the last product of a stage end in the next
 * one. Leaves steps alone of which a half is no multiple of 16 columns, in which operands in
 * registers come, and operands that anything else reads or writes.
 */
public final class HalveGathers extends Rewriter {
  /** Columns of an operand in registers come in so many. */
  private static final int COLUMNS = 16;

  private final PrimFunc func;

  /** An operand in registers and its two halves. */
  private record Halves(Buffer held, List<Buffer> each) {
    static Halves of(Buffer held) {
      long columns = held.extent(1) / 2;
      Buffer first = Buffer.of(held.name(), held.dtype(), held.scope(), held.extent(0), columns);
      Buffer second =
          Buffer.of(held.name() + "_1", held.dtype(), held.scope(), held.extent(0), columns);
      return new Halves(held, List.of(first, second));
    }
  }

  private final List<Halves> halves = new ArrayList<>();

  private HalveGathers(PrimFunc func) {
    this.func = func;
  }

  /** As {@link #apply(PrimFunc)}; tells of it where there is something to halve. */
  public static PrimFunc apply(PrimFunc func, PassListener listener) {
    PrimFunc result = apply(func);
    return result == func ? func : listener.tell("HalveGathers", result);
  }

  /** Halves what can be. */
  public static PrimFunc apply(PrimFunc func) {
    HalveGathers pass = new HalveGathers(func);
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.For f && f.kind() == ForKind.PIPELINED) {
            Walk.statements(
                f.body(),
                inner -> {
                  if (inner instanceof Stmt.Seq(List<Stmt> stmts)) {
                    pass.find(stmts);
                  }
                });
          }
        });
    return pass.halves.isEmpty() ? func : func.withBody(pass.stmt(func.body()));
  }

  /**
   * Whether statements gather operands of two products, one after the other, from a stage to
   * registers of their own.
   */
  public static boolean areHalves(List<Stmt> stmts) {
    return stmts.size() == 4
        && isGathered(stmts.get(0), stmts.get(1))
        && isGathered(stmts.get(2), stmts.get(3))
        && ((Stmt.TileMma) stmts.get(1)).a().buffer() != ((Stmt.TileMma) stmts.get(3)).a().buffer();
  }

  private static boolean isGathered(Stmt first, Stmt second) {
    return first instanceof Stmt.TileMap map
        && second instanceof Stmt.TileMma mma
        && RowPairs.gathered(map) instanceof Buffer held
        && mma.a().equals(Region.whole(held))
        && WarpgroupInstruction.isNamedBy(mma);
  }

  private void find(List<Stmt> stmts) {
    for (int i = 0; i + 1 < stmts.size(); i++) {
      if (stmts.get(i) instanceof Stmt.TileMap map
          && stmts.get(i + 1) instanceof Stmt.TileMma mma
          && RowPairs.gathered(map) instanceof Buffer held
          && mma.a().equals(Region.whole(held))
          && WarpgroupInstruction.isNamedBy(mma)
          && held.extent(1) % (2 * COLUMNS) == 0
          && Exprs.isConst(map.extents().get(1), held.extent(1))
          && uses(held) == 2) {
        halves.add(Halves.of(held));
      }
    }
  }

  /** Statements that read or write an operand. */
  private int uses(Buffer held) {
    int[] uses = {0};
    Walk.statements(
        func.body(),
        s -> {
          Leaves leaves = Leaves.of(s);
          boolean inMap = s instanceof Stmt.Store;
          if (!inMap && (leaves.reads().contains(held) || leaves.writes().contains(held))) {
            uses[0]++;
          }
        });
    return uses[0];
  }

  private static boolean makes(Stmt s, Halves halves) {
    return s instanceof Stmt.TileMap map && map.stores().getFirst().buffer() == halves.held();
  }

  @Override
  public Stmt stmt(Stmt s) {
    for (Halves each : halves) {
      if (s instanceof Stmt.Alloc(Buffer buffer, Stmt body) && buffer == each.held()) {
        return Stmts.alloc(each.each(), stmt(body));
      }
    }
    return s instanceof Stmt.Seq(List<Stmt> stmts) ? sequence(stmts) : super.stmt(s);
  }

  private Stmt sequence(List<Stmt> stmts) {
    List<Stmt> result = new ArrayList<>();
    for (int i = 0; i < stmts.size(); i++) {
      Stmt s = stmts.get(i);
      Halves found = halves.stream().filter(each -> makes(s, each)).findFirst().orElse(null);
      if (found == null) {
        result.add(stmt(s));
        continue;
      }
      Stmt.TileMma product = (Stmt.TileMma) stmts.get(++i);
      for (int half = 0; half < 2; half++) {
        result.add(map((Stmt.TileMap) s, found.each().get(half), half));
        result.add(product(product, found.each().get(half), half));
      }
    }
    return Stmts.seq(result);
  }

  private static Stmt map(Stmt.TileMap map, Buffer held, int half) {
    Var row = Var.index(map.vars().get(0).name());
    Var column = Var.index(map.vars().get(1).name());
    Expr there = Exprs.add(column, Exprs.i32(half * held.extent(1)));
    Stmt.Store store = map.stores().getFirst();
    Expr value =
        Substitution.ofVars(Map.of(map.vars().get(0), row, map.vars().get(1), there))
            .expr(store.value());
    return new Stmt.TileMap(
        List.of(row, column),
        List.of(map.extents().getFirst(), Exprs.i32(held.extent(1))),
        List.of(new Stmt.Store(held, List.of(row, column), value)),
        map.attrs());
  }

  private static Stmt product(Stmt.TileMma mma, Buffer held, int half) {
    long columns = held.extent(1);
    List<Range> ranges = new ArrayList<>(mma.b().ranges());
    int k = ranges.size() - (mma.transposeB() ? 1 : 2);
    Expr min = Exprs.add(ranges.get(k).min(), Exprs.i32(half * columns));
    ranges.set(k, new Range(min, Exprs.i32(columns)));
    return new Stmt.TileMma(
        mma.c(),
        Region.whole(held),
        new Region(mma.b().buffer(), ranges),
        mma.transposeA(),
        mma.transposeB(),
        mma.attrs());
  }
}
