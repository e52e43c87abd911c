package dev.warpwright.lower.grid;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Lets a tile of the second grid wait for single tiles of the first one, each when it is about to
 * be copied.
 *
 * <pre>{@code
 * pipeline k in 8 {                           pipeline k in 8 {
 *   tile.copy Hs <- H[m, k * 32 +: 32]          if k * 32 % 64 == 0 { await counters[…, k * 32 / 64] }
 *   …                                      →    tile.copy Hs <- H[m, k * 32 +: 32]
 * }                                             …
 *                                             }
 * }</pre>
 *
 * <p>So the second grid's tile begins before its row of the first is done, and waits where it comes
 * to what is missing. That cannot be for ever, for all of the row has been drawn before ({@link
 * WorkTickets}).
 */
public final class TileWaits {
  private final Stmt first;
  private final WorkTickets tickets;

  /**
   * Prepares.
   *
   * @param first the code of a tile of the first grid
   */
  TileWaits(Stmt first, WorkTickets tickets) {
    this.first = first;
    this.tickets = tickets;
  }

  /** Whether a statement does nothing but wait for a counter, perhaps under a condition. */
  public static boolean isWait(Stmt s) {
    return switch (s) {
      case Stmt.Flow.Await _ -> true;
      case Stmt.If i -> i.otherwise() == null && isWait(i.then());
      case Stmt.Seq(List<Stmt> stmts) ->
          !stmts.isEmpty()
              && isWait(stmts.getFirst())
              && stmts.stream().skip(1).allMatch(ItemBarriers::isBarrier);
      default -> false;
    };
  }

  /**
   * The code of a tile of the second grid with its waits.
   *
   * @throws LoweringException if it reads what the first grid computes otherwise than by copies of
   *     its columns, step by step, in a pipelined loop
   */
  Stmt in(Stmt tile) {
    boolean[] found = {false};
    Stmt result =
        new Rewriter() {
          @Override
          public Stmt stmt(Stmt s) {
            if (s instanceof Stmt.For f && f.kind() == ForKind.PIPELINED) {
              Stmt wait = before(f.body());
              found[0] |= wait != null;
              return wait == null ? f : f.withBody(Stmts.seq(wait, f.body()));
            }
            return super.stmt(s);
          }
        }.stmt(tile);
    if (!found[0]) {
      throw new LoweringException(
          "no pipelined loop copies what the first grid computes, so no tile of it can be waited"
              + " for; wait for rows");
    }
    return result;
  }

  private @Nullable Stmt before(Stmt body) {
    Stmt.TileCopy copy = copy(body, c -> written(c.from().buffer()) != null);
    return copy == null ? null : wait(copy.from());
  }

  /** What a tile of the first grid writes of a buffer. */
  private @Nullable Region written(Buffer buffer) {
    Stmt.TileCopy copy = copy(first, c -> c.to().buffer() == buffer);
    return buffer.scope() != Scope.GLOBAL || copy == null ? null : copy.to();
  }

  private Stmt wait(Region read) {
    Buffer handed = read.buffer();
    Region region = written(handed);
    List<Range> written = region == null ? List.of() : region.ranges();
    List<Range> ranges = read.ranges();
    int last = ranges.size() - 1;
    if (written.size() != ranges.size()
        || !written.subList(0, last).equals(ranges.subList(0, last))) {
      throw new LoweringException(
          handed.name() + " is not read by the rows in which it is written; wait for rows");
    }
    Expr columns = ranges.get(last).min();
    if (!(written.get(last).extent() instanceof Expr.IntImm width)
        || !(ranges.get(last).extent() instanceof Expr.IntImm step)
        || width.value() % step.value() != 0) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "%s is written by %s columns and read by %s, so no single tile can be waited for",
              handed.name(),
              written.get(last).extent(),
              ranges.get(last).extent()));
    }
    // Copies ahead of the last step are not made, but looked at.
    Expr most = Exprs.i32(tickets.program().extents().columns() - 1);
    Expr tile = Exprs.min(Exprs.div(columns, width.value()), most);
    Stmt await =
        new Stmt.Flow.Await(
            tickets.counters(),
            List.of(tickets.signalled(WaitPolicy.TILE, tile)),
            tickets.all(WaitPolicy.TILE));
    Expr begins = Exprs.eq(Exprs.mod(columns, width.value()), Exprs.i32(0));
    return step.value() == width.value() ? await : new Stmt.If(begins, await, null);
  }

  /** The first copy of a kind. */
  static Stmt.@Nullable TileCopy copy(Stmt s, Predicate<Stmt.TileCopy> kind) {
    List<Stmt.TileCopy> found = new ArrayList<>();
    Walk.statements(
        s,
        inner -> {
          if (inner instanceof Stmt.TileCopy copy && kind.test(copy)) {
            found.add(copy);
          }
        });
    return found.isEmpty() ? null : found.getFirst();
  }
}
