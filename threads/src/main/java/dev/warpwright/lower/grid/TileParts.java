package dev.warpwright.lower.grid;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.order.FusedOrder;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Divides the K of the second grid's tiles, which is the columns of the first grid, into parts: an
 * item goes through the steps of one of them, and adds its sums to those of the others.
 *
 * <pre>{@code
 * tile.fill acc = 0                        tile.fill acc = 0
 * pipeline k in 8 {                        pipeline k in min((part + 1) * 4, 8) - part * 4 {
 *   tile.copy Hs <- H[m, k * 32 +: 32]       tile.copy Hs <- H[m, (part * 4 + k) * 32 +: 32]
 *   …                                   →    …
 * }                                        }
 * tile.copy Y[m, n] <- acc                 combine acc at (tile_m * 3 + tile_n) * 2 part part of 2 {
 *                                            tile.copy Y[m, n] <- acc
 *                                          }
 * }</pre>
 *
 * <p>Whoever begins a tile's last part waits for the others, which have begun before. What its
 * block holds meanwhile, its next item, it has drawn after it began, so that item stands behind
 * those parts in the order, and none of them waits for it. From waiting to waiting tickets descend,
 * and nothing waits for ever. Producers that draw ahead of those who begin would break that: blocks
 * with roles take whole tiles.
 */
public final class TileParts {
  /** Of a {@code combine}: parts of all tiles that have several. */
  public static final String SLOTS = "slots";

  /** Of a {@code combine}: there are tiles of two parts. */
  public static final String PAIRS = "pairs";

  /** Of a {@code combine}: there are tiles of more parts. */
  public static final String MORE = "more";

  private final Stmt first;
  private final WorkTickets tickets;

  /**
   * Prepares.
   *
   * @param first the code of a tile of the first grid
   */
  TileParts(Stmt first, WorkTickets tickets) {
    this.first = first;
    this.tickets = tickets;
  }

  /**
   * The code of a part of a tile of the second grid.
   *
   * @throws LoweringException if the tile is other than sums from zero, over steps that read whole
   *     columns of the first grid's tiles, and what becomes of them
   */
  Stmt in(Stmt tile) {
    if (tile instanceof Stmt.Alloc(Buffer buffer, Stmt body)) {
      return new Stmt.Alloc(buffer, in(body));
    }
    List<Stmt> before = new ArrayList<>();
    List<Stmt> behind = new ArrayList<>();
    boolean found = false;
    for (Stmt s : Stmts.seq(tile) instanceof Stmt.Seq(List<Stmt> all) ? all : List.of(tile)) {
      if (s instanceof Stmt.For f && f.kind() == ForKind.PIPELINED && !found) {
        found = true;
        before.add(steps(f));
      } else {
        (found ? behind : before).add(s);
      }
    }
    if (!found) {
      throw new LoweringException(
          "K is in parts, but no pipelined loop copies what the first grid computes");
    }
    FusedOrder.Extents e = tickets.program().extents();
    Expr number = Exprs.add(Exprs.mul(tickets.row(), e.secondColumns()), tickets.column());
    Attrs attrs =
        Attrs.NONE
            .with(SLOTS, (long) e.secondRows() * e.secondColumns() * e.parts())
            .with(e.parts() == 2 ? PAIRS : MORE, 1);
    before.add(
        new Stmt.Flow.Combine(
            sums(before),
            Exprs.mul(number, e.parts()),
            tickets.part(),
            Exprs.i32(e.parts()),
            attrs,
            Stmts.seq(behind)));
    return Stmts.seq(before);
  }

  /** Those of the steps that read the columns of the first grid in the part. */
  private Stmt steps(Stmt.For f) {
    Var k = Var.index("k");
    long each = stepsOfTile(f);
    Expr from = Exprs.mul(tickets.partBegin(tickets.part()), each);
    Expr to = Exprs.mul(tickets.partBegin(Exprs.add(tickets.part(), 1)), each);
    return new Stmt.For(
        k,
        Exprs.i32(0),
        Exprs.sub(Exprs.min(to, f.extent()), from),
        f.kind(),
        null,
        f.attrs(),
        Substitution.ofVars(java.util.Map.of(f.var(), Exprs.add(from, k))).stmt(f.body()));
  }

  /** How many steps read the columns of a tile of the first grid. */
  private long stepsOfTile(Stmt.For f) {
    Stmt.TileCopy read = TileWaits.copy(f.body(), c -> written(c.from().buffer()) != null);
    Region region = read == null ? null : written(read.from().buffer());
    if (read == null || region == null || !Exprs.isConst(f.min(), 0)) {
      throw new LoweringException(
          "K is in parts, but loop " + f.var() + " copies nothing that the first grid computes");
    }
    List<Range> ranges = read.from().ranges();
    Range columns = ranges.getLast();
    if (!(region.ranges().getLast().extent() instanceof Expr.IntImm width)
        || !(columns.extent() instanceof Expr.IntImm step)
        || width.value() % step.value() != 0
        || !columns.min().equals(Exprs.mul(f.var(), step.value()))) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "K is in parts, but %s is written by %s columns and read by %s",
              read.from().buffer().name(),
              region.ranges().getLast().extent(),
              columns.extent()));
    }
    return width.value() / step.value();
  }

  private @org.jspecify.annotations.Nullable Region written(Buffer buffer) {
    Stmt.TileCopy copy = TileWaits.copy(first, c -> c.to().buffer() == buffer);
    return buffer.scope() != Scope.GLOBAL || copy == null ? null : copy.to();
  }

  /** What a tile adds up from zero. */
  private static Buffer sums(List<Stmt> stmts) {
    List<Buffer> sums = new ArrayList<>();
    boolean[] fromZero = {false};
    Walk.statements(
        Stmts.seq(stmts),
        s -> {
          if (s instanceof Stmt.TileMma mma && !sums.contains(mma.c().buffer())) {
            sums.add(mma.c().buffer());
          }
          fromZero[0] |=
              s instanceof Stmt.TileFill fill
                  && fill.value().equals(Exprs.zero(Type.of(fill.to().buffer().dtype())));
        });
    if (sums.size() != 1 || !fromZero[0] || sums.getFirst().dtype().bytes() < 4) {
      throw new LoweringException(
          "K is in parts, but a tile does not add up one tile of 4 bytes an element from zero");
    }
    return sums.getFirst();
  }
}
