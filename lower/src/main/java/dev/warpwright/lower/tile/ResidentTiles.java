package dev.warpwright.lower.tile;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.FreshNames;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The part of {@link PlanPipes} that keeps constant tiles, one copy after the other as long as the
 * function's attribute {@code resident} has bytes left. Smaller ones first: most copies saved per
 * byte are those of tiles that each item needs, whatever their size, so what counts is how many
 * fit. A copy with {@code stream = 1} is left to flow.
 *
 * <pre>{@code
 * persistent t in n {                   pipe kept[1] shared (Ws: f16[4, 64, 64])
 *   pipeline k in 4 {                   produce kept { for k in 4 { tile.copy Ws[k] <- W[k] } }
 *     tile.copy Ws <- W[k]              persistent t in n {
 *     tile.mma acc += As * Ws     →       pipeline k in 4 { consume kept peek { tile.mma acc += As * Ws[k] } }
 *   }                                   }
 * }                                     consume kept { }
 * }</pre>
 */
final class ResidentTiles {
  private final PrimFunc func;
  private final Set<Buffer> written;

  private ResidentTiles(PrimFunc func) {
    this.func = func;
    this.written = TileFacts.written(func);
  }

  /** A copy that is the same in each item, and the loops inside the item that its slices go by. */
  private record Candidate(Stmt.TileCopy copy, Stmt.For loop, List<Stmt.For> slices) {
    long count() {
      long count = 1;
      for (Stmt.For slice : slices) {
        count *= ((Expr.IntImm) slice.extent()).value();
      }
      return count;
    }

    long bytes() {
      return count() * TileFacts.bytes(copy.to().buffer());
    }
  }

  static PrimFunc apply(PrimFunc func) {
    long left = func.attrs().getLong("resident", 0);
    PrimFunc result = func;
    int kept = 0;
    while (left > 0) {
      ResidentTiles tiles = new ResidentTiles(result);
      Candidate next = tiles.smallest();
      if (next == null || next.bytes() > left) {
        break;
      }
      left -= next.bytes();
      result = tiles.keep(next, kept++);
    }
    return result.withAttrs(result.attrs().without("resident"));
  }

  private @Nullable Candidate smallest() {
    List<Stmt.For> items = TileFacts.loops(func.body(), ForKind.PERSISTENT);
    if (items.size() != 1) {
      return null;
    }
    Stmt.For item = items.getFirst();
    List<Candidate> found = new ArrayList<>();
    collect(item.body(), new ArrayList<>(), item, found);
    Candidate best = null;
    for (Candidate each : found) {
      best = best == null || each.bytes() < best.bytes() ? each : best;
    }
    return best;
  }

  private void collect(Stmt s, List<Stmt.For> loops, Stmt.For item, List<Candidate> found) {
    switch (s) {
      case Stmt.For f -> {
        loops.add(f);
        if (f.kind() == ForKind.PIPELINED) {
          for (Stmt inner : TileFacts.flat(f.body())) {
            if (inner instanceof Stmt.TileCopy copy && isConstant(copy, f, loops, item)) {
              Set<Var> vars = new HashSet<>();
              Walk.expressions(
                  copy,
                  e -> {
                    if (e instanceof Var v) {
                      vars.add(v);
                    }
                  });
              found.add(
                  new Candidate(
                      copy, f, loops.stream().filter(l -> vars.contains(l.var())).toList()));
            }
          }
        }
        collect(f.body(), loops, item, found);
        loops.removeLast();
      }
      // What is conditional may not happen in each item.
      case Stmt.If _, Stmt.Flow _ -> {}
      default -> Stmts.children(s).forEach(child -> collect(child, loops, item, found));
    }
  }

  private boolean isConstant(Stmt.TileCopy copy, Stmt.For f, List<Stmt.For> loops, Stmt.For item) {
    Buffer to = copy.to().buffer();
    Buffer from = copy.from().buffer();
    if (from.scope() != Scope.GLOBAL
        || written.contains(from)
        || to.scope() != Scope.SHARED
        || to.layout() != null
        || copy.attrs().has("stream")
        || !TileFacts.isWhole(copy.to())
        || !usedIn(f, to)) {
      return false;
    }
    Set<Var> inside = new HashSet<>(TileFacts.bound(item));
    for (Stmt.For loop : loops) {
      if (loop.extent() instanceof Expr.IntImm && loop.min() instanceof Expr.IntImm) {
        inside.remove(loop.var());
      }
    }
    return !TileFacts.mentions(copy, inside);
  }

  /** Whether only this loop touches a buffer, and only this copy writes it, once. */
  private boolean usedIn(Stmt.For loop, Buffer buffer) {
    int[] all = {0, 0};
    int[] here = {0};
    Walk.statements(func.body(), s -> count(s, buffer, all));
    int[] inside = {0, 0};
    Walk.statements(loop.body(), s -> count(s, buffer, inside));
    here[0] = inside[0];
    boolean first =
        TileFacts.flat(loop.body()).stream()
            .filter(s -> touches(s, buffer))
            .findFirst()
            .map(Stmt.TileCopy.class::isInstance)
            .orElse(false);
    return all[0] == here[0] && all[1] == 1 && first;
  }

  private static boolean touches(Stmt s, Buffer buffer) {
    int[] found = {0, 0};
    Walk.statements(s, inner -> count(inner, buffer, found));
    return found[0] > 0;
  }

  private static void count(Stmt s, Buffer buffer, int[] found) {
    Leaves leaves = Leaves.of(s);
    boolean writes = leaves.writes().contains(buffer);
    found[0] += writes || leaves.reads().contains(buffer) ? 1 : 0;
    found[1] += writes ? 1 : 0;
  }

  private PrimFunc keep(Candidate kept, int number) {
    Buffer tile = kept.copy.to().buffer();
    List<Expr> shape = new ArrayList<>();
    shape.add(Exprs.i32(kept.count()));
    shape.addAll(tile.shape());
    Buffer all = new Buffer(tile.name(), tile.dtype(), shape, tile.scope(), null, tile.alignment());
    String name = number == 0 ? "kept" : "kept_" + number;
    Pipe pipe = new Pipe(name, 1, tile.scope(), List.of(all), Pipe.Options.NONE);
    Stmt fill =
        new Stmt.TileCopy(
            slice(kept.copy.to(), all, index(kept)),
            kept.copy.from(),
            kept.copy.attrs().without("inflight"));
    for (Stmt.For loop : kept.slices.reversed()) {
      fill =
          new Stmt.For(
              loop.var(), loop.min(), loop.extent(), ForKind.SERIAL, null, Attrs.NONE, fill);
    }
    Stmt produce = new Stmt.Flow.Produce(pipe, FreshNames.of(fill));
    Rewriter use =
        new Rewriter() {
          @Override
          public Stmt stmt(Stmt s) {
            if (s instanceof Stmt.Alloc alloc && alloc.buffer() == tile) {
              return stmt(alloc.body());
            }
            if (s instanceof Stmt.For f && f.kind() == ForKind.PERSISTENT) {
              Stmt.For items = (Stmt.For) super.stmt(s);
              // Without items nothing is copied that nobody waits for.
              return Stmts.when(
                  Exprs.fold(BinaryOp.GT, items.extent(), Exprs.i32(0)),
                  Stmts.seq(produce, items, new Stmt.Flow.Consume(pipe, false, Stmt.Seq.EMPTY)));
            }
            return s == kept.loop ? used(kept, pipe, all) : super.stmt(s);
          }
        };
    Stmt body =
        TileFacts.insideBlock(
            func.body(), true, block -> new Stmt.Flow.PipeScope(pipe, use.stmt(block)));
    return func.withBody(body);
  }

  /** The loop without the copy; what uses the tile looks at its slice. */
  private static Stmt used(Candidate kept, Pipe pipe, Buffer all) {
    Buffer tile = kept.copy.to().buffer();
    Expr index = index(kept);
    Rewriter slices =
        new Rewriter() {
          @Override
          public Region region(Region region) {
            return region.buffer() == tile ? slice(region, all, index) : super.region(region);
          }

          @Override
          public Expr expr(Expr e) {
            if (e instanceof Expr.Load(Buffer buffer, List<Expr> indices) && buffer == tile) {
              List<Expr> at = new ArrayList<>();
              at.add(index);
              at.addAll(exprs(indices));
              return new Expr.Load(all, at);
            }
            return super.expr(e);
          }
        };
    List<Stmt> before = new ArrayList<>();
    List<Stmt> from = new ArrayList<>();
    for (Stmt s : TileFacts.flat(kept.loop.body())) {
      if (s == kept.copy) {
        continue;
      }
      // Other copies stay ahead, so that they still are the loop's.
      (from.isEmpty() && s instanceof Stmt.TileCopy && !touches(s, tile) ? before : from)
          .add(slices.stmt(s));
    }
    before.add(new Stmt.Flow.Consume(pipe, true, Stmts.seq(from)));
    return kept.loop.withBody(Stmts.seq(before));
  }

  /** The number of a slice, the last loop fastest. */
  private static Expr index(Candidate kept) {
    Expr index = Exprs.i32(0);
    for (Stmt.For loop : kept.slices) {
      index = Exprs.add(Exprs.mul(index, loop.extent()), Exprs.sub(loop.var(), loop.min()));
    }
    return index;
  }

  private static Region slice(Region region, Buffer all, Expr index) {
    List<Range> ranges = new ArrayList<>();
    ranges.add(Range.at(index));
    ranges.addAll(region.ranges());
    return new Region(all, ranges);
  }
}
