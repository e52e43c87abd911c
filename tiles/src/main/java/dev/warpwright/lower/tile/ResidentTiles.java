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
import dev.warpwright.ir.visit.FreshNames;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

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
  private final Map<Buffer, Uses> uses;

  private ResidentTiles(PrimFunc func) {
    this.func = func;
    this.uses = uses(func.body());
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
      List<Candidate> next = tiles.smallest(left);
      if (next.isEmpty()) {
        break;
      }
      left -= next.stream().mapToLong(Candidate::bytes).sum();
      result = tiles.keep(next, kept);
      kept += next.size();
    }
    return result.withAttrs(result.attrs().without("resident"));
  }

  /** The smallest that fit, up to the second one of a loop, which is another loop behind this. */
  private List<Candidate> smallest(long left) {
    List<Stmt.For> items = TileFacts.loops(func.body(), ForKind.PERSISTENT);
    if (items.size() != 1) {
      return List.of();
    }
    Stmt.For item = items.getFirst();
    List<Candidate> found = new ArrayList<>();
    collect(item.body(), new ArrayList<>(), TileFacts.bound(item), found);
    found.sort(Comparator.comparingLong(Candidate::bytes));
    List<Candidate> smallest = new ArrayList<>();
    Set<Stmt.For> loops = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Candidate each : found) {
      left -= each.bytes();
      if (left < 0 || !loops.add(each.loop)) {
        break;
      }
      smallest.add(each);
    }
    return smallest;
  }

  /**
   * Adds what could be kept.
   *
   * @param loops around the statement, in an item
   * @param bound variables of the item and of what is inside
   */
  private void collect(Stmt s, List<Stmt.For> loops, Set<Var> bound, List<Candidate> found) {
    switch (s) {
      case Stmt.For f -> {
        loops.add(f);
        if (f.kind() == ForKind.PIPELINED) {
          for (Stmt inner : TileFacts.flat(f.body())) {
            if (inner instanceof Stmt.TileCopy copy && isConstant(copy, f, loops, bound)) {
              Set<Var> vars = vars(copy);
              found.add(
                  new Candidate(
                      copy, f, loops.stream().filter(l -> vars.contains(l.var())).toList()));
            }
          }
        }
        collect(f.body(), loops, bound, found);
        loops.removeLast();
      }
      // What is conditional may not happen in each item.
      case Stmt.If _, Stmt.Flow _ -> {}
      default -> Stmts.children(s).forEach(child -> collect(child, loops, bound, found));
    }
  }

  private boolean isConstant(Stmt.TileCopy copy, Stmt.For f, List<Stmt.For> loops, Set<Var> bound) {
    Buffer to = copy.to().buffer();
    Buffer from = copy.from().buffer();
    if (from.scope() != Scope.GLOBAL
        || uses.getOrDefault(from, Uses.NONE).writes() > 0
        || to.scope() != Scope.SHARED
        || to.layout() != null
        || copy.attrs().has("stream")
        || !TileFacts.isWhole(copy.to())
        || !usedIn(f, to)) {
      return false;
    }
    Set<Var> changing = vars(copy);
    changing.retainAll(bound);
    for (Stmt.For loop : loops) {
      if (loop.extent() instanceof Expr.IntImm && loop.min() instanceof Expr.IntImm) {
        changing.remove(loop.var());
      }
    }
    return changing.isEmpty();
  }

  private static Set<Var> vars(Stmt.TileCopy copy) {
    Set<Var> vars = new HashSet<>();
    Walk.expressions(
        copy,
        e -> {
          if (e instanceof Var v) {
            vars.add(v);
          }
        });
    return vars;
  }

  /** Whether only this loop touches a buffer, and only this copy writes it, once. */
  private boolean usedIn(Stmt.For loop, Buffer buffer) {
    Uses all = uses.getOrDefault(buffer, Uses.NONE);
    Uses here = uses(loop.body()).getOrDefault(buffer, Uses.NONE);
    boolean first =
        TileFacts.flat(loop.body()).stream()
            .filter(s -> touches(s, buffer))
            .findFirst()
            .map(Stmt.TileCopy.class::isInstance)
            .orElse(false);
    return all.touches() == here.touches() && all.writes() == 1 && first;
  }

  private static boolean touches(Stmt s, Buffer buffer) {
    return uses(s).containsKey(buffer);
  }

  private static Map<Buffer, Uses> uses(Stmt s) {
    Map<Buffer, Uses> uses = new HashMap<>();
    Walk.statements(
        s,
        inner -> {
          Leaves leaves = Leaves.of(inner);
          Set<Buffer> touched = new HashSet<>(leaves.reads());
          touched.addAll(leaves.writes());
          for (Buffer buffer : touched) {
            Uses use = new Uses(1, leaves.writes().contains(buffer) ? 1 : 0);
            uses.merge(buffer, use, Uses::plus);
          }
        });
    return uses;
  }

  /** By how many statements a buffer is touched, and by how many of them written. */
  private record Uses(int touches, int writes) {
    static final Uses NONE = new Uses(0, 0);

    Uses plus(Uses other) {
      return new Uses(touches + other.touches, writes + other.writes);
    }
  }

  /** A tile that is kept: its pipe, and the buffer of all of its slices. */
  private record Kept(Candidate what, Pipe pipe, Buffer all) {
    static Kept of(Candidate what, int number) {
      Buffer tile = what.copy.to().buffer();
      List<Expr> shape = new ArrayList<>();
      shape.add(Exprs.i32(what.count()));
      shape.addAll(tile.shape());
      Buffer all =
          new Buffer(tile.name(), tile.dtype(), shape, tile.scope(), null, tile.alignment());
      String name = number == 0 ? "kept" : "kept_" + number;
      return new Kept(what, new Pipe(name, 1, tile.scope(), List.of(all), Pipe.Options.NONE), all);
    }

    /** Its slices are filled; behind the items nobody looks at them any more. */
    Stmt around(Stmt items) {
      Stmt fill =
          new Stmt.TileCopy(
              slice(what.copy.to(), all, index(what)),
              what.copy.from(),
              what.copy.attrs().without("inflight"));
      for (Stmt.For loop : what.slices.reversed()) {
        fill =
            new Stmt.For(
                loop.var(), loop.min(), loop.extent(), ForKind.SERIAL, null, Attrs.NONE, fill);
      }
      return Stmts.seq(
          new Stmt.Flow.Produce(pipe, FreshNames.of(fill)),
          items,
          new Stmt.Flow.Consume(pipe, false, Stmt.Seq.EMPTY));
    }
  }

  private PrimFunc keep(List<Candidate> candidates, int from) {
    List<Kept> kept = new ArrayList<>();
    Map<Stmt, Kept> loops = new IdentityHashMap<>();
    Set<Buffer> tiles = new HashSet<>();
    for (Candidate each : candidates) {
      kept.add(Kept.of(each, from + kept.size()));
      loops.put(each.loop, kept.getLast());
      tiles.add(each.copy.to().buffer());
    }
    Rewriter use =
        new Rewriter() {
          @Override
          public Stmt stmt(Stmt s) {
            if (s instanceof Stmt.Alloc alloc && tiles.contains(alloc.buffer())) {
              return stmt(alloc.body());
            }
            if (s instanceof Stmt.For f && f.kind() == ForKind.PERSISTENT) {
              Stmt items = super.stmt(s);
              // Without items nothing is copied that nobody waits for.
              Expr any = Exprs.fold(BinaryOp.GT, f.extent(), Exprs.i32(0));
              for (Kept each : kept.reversed()) {
                items = Stmts.when(any, each.around(items));
              }
              return items;
            }
            Kept here = loops.get(s);
            return here == null ? super.stmt(s) : used(here.what, here.pipe, here.all);
          }
        };
    Stmt body =
        TileFacts.insideBlock(
            func.body(),
            true,
            block -> {
              Stmt scopes = use.stmt(block);
              for (Kept each : kept.reversed()) {
                scopes = new Stmt.Flow.PipeScope(each.pipe, scopes);
              }
              return scopes;
            });
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
