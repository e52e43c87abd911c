package dev.warpwright.lower.tile;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.FreshNames;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The part of {@link AssignRoles} for programs without roles: software pipelining.
 *
 * <pre>{@code
 * persistent t in n {                  if n > 0 { for q in 2 { produce ring { P(0, q) } } }
 *   for k in 4 {                       persistent t in n {
 *     produce ring { P(t, k) }           for k in 4 {
 *     consume ring { C(t, k) }             if k < 2 { produce ring { P(t, k + 2) } }
 *   }                                →     else if t + 1 < n { produce ring { P(t + 1, k - 2) } }
 *   epilogue                               consume ring { C(t, k) }
 * }                                      }
 *                                        epilogue
 *                                      }
 * }</pre>
 *
 * <p>The stages that are ahead belong to the next loop of the item, or to the next item, where a
 * loop has no more: the order of the stages is the same. Where the loops of a pipe are not all
 * directly in the item with constant extents, each loop begins and ends by itself:
 *
 * <pre>{@code
 * for s in n + 2 {
 *   if s < n { produce ring { P(s) } }
 *   if s >= 2 { let k = s - 2; consume ring { C(k) } }
 * }
 * }</pre>
 */
final class ProduceAhead {
  /** A loop that fills a pipe at its beginning. */
  private record Feed(
      Stmt.For loop, Stmt.Flow.Produce produce, List<Stmt> rest, List<Stmt.Let> lets) {
    long extent() {
      return loop.extent() instanceof Expr.IntImm n ? n.value() : 0;
    }
  }

  private final Set<Buffer> written;

  private ProduceAhead(PrimFunc func) {
    this.written = TileFacts.written(func);
  }

  static PrimFunc apply(PrimFunc func) {
    ProduceAhead pass = new ProduceAhead(func);
    return func.withBody(TileFacts.insideBlock(func.body(), true, pass::block));
  }

  private Stmt block(Stmt block) {
    Map<Pipe, Integer> produces = new IdentityHashMap<>();
    List<Pipe> pipes = new ArrayList<>();
    Walk.statements(
        block,
        s -> {
          if (s instanceof Stmt.Flow.Produce p) {
            if (produces.merge(p.pipe(), 1, Integer::sum) == 1 && p.pipe().options().lead() > 0) {
              pipes.add(p.pipe());
            }
          }
        });
    Stmt result = block;
    for (Pipe pipe : pipes) {
      result = ahead(result, pipe, produces.getOrDefault(pipe, 0));
    }
    return result;
  }

  private Stmt ahead(Stmt block, Pipe pipe, int produces) {
    List<Stmt.For> items = TileFacts.loops(block, ForKind.PERSISTENT);
    Stmt.For item = items.size() == 1 ? items.getFirst() : null;
    List<Feed> feeds = new ArrayList<>();
    collect(item == null ? block : item.body(), pipe, new ArrayList<>(), feeds);
    long fewest = feeds.stream().mapToLong(Feed::extent).min().orElse(0);
    int lead = (int) Math.min(pipe.options().lead(), fewest);
    boolean whole = feeds.size() == produces && lead > 0;
    return whole ? across(block, item, feeds, lead) : each(block, pipe);
  }

  /** The loops of a pipe directly in a body, in order, with the values that are known in them. */
  private void collect(Stmt s, Pipe pipe, List<Stmt.Let> lets, List<Feed> feeds) {
    switch (s) {
      case Stmt.Seq(List<Stmt> stmts) -> stmts.forEach(inner -> collect(inner, pipe, lets, feeds));
      case Stmt.Alloc alloc -> collect(alloc.body(), pipe, lets, feeds);
      case Stmt.Let let -> {
        lets.add(let);
        collect(let.body(), pipe, lets, feeds);
        lets.removeLast();
      }
      case Stmt.For f -> {
        Feed feed = feed(f, pipe, lets);
        if (feed != null) {
          feeds.add(feed);
        }
      }
      default -> {}
    }
  }

  private @Nullable Feed feed(Stmt.For f, Pipe pipe, List<Stmt.Let> lets) {
    List<Stmt> stmts = TileFacts.flat(f.body());
    if (f.kind() == ForKind.SERIAL
        && !stmts.isEmpty()
        && stmts.getFirst() instanceof Stmt.Flow.Produce produce
        && produce.pipe() == pipe
        && AssignRoles.isFeed(produce, written)
        && lets.stream().allMatch(let -> TileFacts.isPure(let.value(), written))) {
      return new Feed(f, produce, stmts.subList(1, stmts.size()), List.copyOf(lets));
    }
    return null;
  }

  private Stmt across(Stmt block, Stmt.@Nullable For item, List<Feed> feeds, int lead) {
    Map<Stmt, Stmt> replaced = new IdentityHashMap<>();
    for (int i = 0; i < feeds.size(); i++) {
      Feed feed = feeds.get(i);
      Stmt.For loop = feed.loop;
      Expr ahead = Exprs.add(loop.var(), lead);
      Expr end = Exprs.add(loop.min(), loop.extent());
      Stmt here = FreshNames.with(loop.var(), ahead, feed.produce);
      // So far into the next loop.
      Expr step = shifted(Exprs.sub(loop.var(), loop.min()), lead - feed.extent());
      Stmt next = null;
      if (i + 1 < feeds.size()) {
        next = stage(feeds.get(i + 1), step, null, null);
      } else if (item != null) {
        Expr following = Exprs.add(item.var(), 1);
        Expr last = Exprs.add(item.min(), item.extent());
        next =
            new Stmt.If(
                Exprs.lt(following, last),
                stage(feeds.getFirst(), step, item.var(), following),
                null);
      }
      List<Stmt> body = new ArrayList<>();
      if (feed.extent() > lead) {
        body.add(new Stmt.If(Exprs.lt(ahead, end), here, next));
      } else if (next != null) {
        body.add(next);
      }
      body.addAll(feed.rest);
      replaced.put(loop, loop.withBody(Stmts.seq(body)));
    }
    Var first = Var.index("first");
    Stmt begin =
        Stmt.For.of(
            ForKind.SERIAL,
            first,
            Exprs.i32(lead),
            stage(
                feeds.getFirst(),
                first,
                item == null ? null : item.var(),
                item == null ? null : item.min()));
    if (item != null) {
      begin = Stmts.when(Exprs.lt(Exprs.i32(0), item.extent()), begin);
    }
    Stmt prologue = begin;
    Stmt.For whole = item;
    Stmt changed =
        new Rewriter() {
          @Override
          public Stmt stmt(Stmt s) {
            Stmt other = replaced.get(s);
            if (other != null) {
              return other;
            }
            Stmt result = super.stmt(s);
            return s == whole ? Stmts.seq(prologue, result) : result;
          }
        }.stmt(block);
    // What the first loop's values are bound to, the copies before it bind again.
    return whole == null ? Stmts.seq(prologue, changed) : changed;
  }

  private static Expr shifted(Expr e, long by) {
    return by < 0 ? Exprs.sub(e, Exprs.i32(-by)) : Exprs.add(e, by);
  }

  /** The produce of a loop at a step from 0, perhaps of another item, with values of its own. */
  private static Stmt stage(Feed feed, Expr step, @Nullable Var item, @Nullable Expr other) {
    Stmt produce = FreshNames.with(feed.loop.var(), Exprs.add(feed.loop.min(), step), feed.produce);
    for (Stmt.Let let : feed.lets.reversed()) {
      if (TileFacts.mentions(produce, List.of(let.var()))) {
        produce = new Stmt.Let(let.var(), let.value(), produce);
      }
    }
    return item == null || other == null
        ? FreshNames.of(produce)
        : FreshNames.with(item, other, produce);
  }

  /** Each loop by itself. */
  private Stmt each(Stmt block, Pipe pipe) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        Stmt result = super.stmt(s);
        Feed feed = result instanceof Stmt.For f ? feed(f, pipe, List.of()) : null;
        return feed == null ? result : alone(feed, pipe.options().lead());
      }
    }.stmt(block);
  }

  private static Stmt alone(Feed feed, int lead) {
    Stmt.For loop = feed.loop;
    Var step = Var.index("step");
    Expr produced = Exprs.add(loop.min(), step);
    Expr consumed = Exprs.add(loop.min(), shifted(step, -lead));
    Stmt fill =
        new Stmt.If(
            Exprs.lt(step, loop.extent()),
            FreshNames.with(loop.var(), produced, feed.produce),
            null);
    Stmt read =
        new Stmt.If(
            Exprs.ge(step, Exprs.i32(lead)),
            new Stmt.Let(loop.var(), consumed, Stmts.seq(feed.rest)),
            null);
    return new Stmt.For(
        step,
        Exprs.i32(0),
        Exprs.add(loop.extent(), lead),
        ForKind.SERIAL,
        null,
        loop.attrs(),
        Stmts.seq(fill, read));
  }
}
