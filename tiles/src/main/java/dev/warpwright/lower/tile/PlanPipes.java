package dev.warpwright.lower.tile;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.arith.Interval;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.grid.TileWaits;
import dev.warpwright.lower.pass.Allocated;
import dev.warpwright.lower.pass.PassListener;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Lets the tiles that pipelined loops copy flow through pipes.
 *
 * <pre>{@code
 * persistent t in n {                        pipe ring[3] shared (As, Bs) lead 2
 *   pipeline k in 4 [stages = 3] {           persistent t in n {
 *     tile.copy As <- A[…]                     for k in 4 {
 *     tile.copy Bs <- B[…]                       produce ring { tile.copy As <- A[…]; tile.copy Bs <- B[…] }
 *     tile.mma acc += As * Bs                    consume ring { tile.mma acc += As * Bs }
 *   }                                    →     }
 *   pipeline k in 2 [stages = 3] {             for k in 2 {
 *     tile.copy Cs <- C[…]                       produce ring { tile.copy Bs <- C[…] }
 *     tile.mma sum += h * Cs                     consume ring { tile.mma sum += h * Bs }
 *   }                                          }
 * }                                          }
 * }</pre>
 *
 * <p>Loops that are not inside each other feed one ring if the tiles of one are among those of the
 * other: the same type and memory, and a shape that the other's holds. So the next loop's tiles,
 * and the next work item's, are under way while this one ends. Each stage belongs to one loop, and
 * tiles that it does not fill are nobody's.
 *
 * <p>Tiles that do not depend on the work item and fit into the function's attribute {@code
 * resident} (bytes) are copied once: a pipe of one stage, which holds all slices, is filled before
 * the first item, looked at ({@code peek}) by every item, and consumed behind the last.
 *
 * <p>Where a loop does nothing but products of warpgroups, they are under way for a step more, and
 * a stage is given back a step late; the loop's attribute {@code hold} says otherwise. Of two
 * products whose first operands are gathered from the stage ({@link HalveGathers}) it is the
 * second.
 *
 * <p>A loop with {@code unrolled = 1} becomes straight-line code. Of a loop with {@code slices = n}
 * n steps share a stage ({@link GroupSlices}).
 *
 * <p>Guarantees: no loop is {@code pipeline} any more; the result computes the same, one after the
 * other. Stands before {@link AssignRoles}, which cuts along pipes, and behind the choice of copies
 * and layouts, which pipes take over as they are.
 *
 * <p>Requires: in a pipelined loop, whole tiles are copied from global memory that the program does
 * not write, or behind a wait for who writes it, before anything else; what is copied is used in
 * that loop only, or copied anew first. Copies that are not so stay where they are, as part of the
 * reading. Waits in front of the copies stay in front of them.
 */
public final class PlanPipes {
  private final PrimFunc func;
  private final Set<Buffer> written;
  private final Set<Stmt.TileCopy> awaited;
  private final List<Feed> feeds = new ArrayList<>();
  private final List<TileRing> rings = new ArrayList<>();

  private PlanPipes(PrimFunc func) {
    this.func = func;
    this.written = TileFacts.written(func);
    this.awaited = TileFacts.awaited(func.body());
  }

  public static PrimFunc apply(PrimFunc func, PassListener listener) {
    return listener.tell("PlanPipes", apply(func));
  }

  public static PrimFunc apply(PrimFunc func) {
    Stmt grouped = GroupSlices.apply(func.body());
    PrimFunc kept = ResidentTiles.apply(func.withBody(outside(grouped)));
    return new PlanPipes(kept).plan();
  }

  /** What a pipelined loop allocates for each step is allocated around it. */
  private static Stmt outside(Stmt body) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        Stmt result = super.stmt(s);
        if (!(result instanceof Stmt.For f) || f.kind() != ForKind.PIPELINED) {
          return result;
        }
        List<Buffer> allocated = new ArrayList<>();
        List<Stmt> inner = new ArrayList<>();
        Allocated.apart(f.body(), allocated, inner);
        return Stmts.alloc(allocated, f.withBody(Stmts.seq(inner)));
      }
    }.stmt(body);
  }

  private PrimFunc plan() {
    collect(func.body(), List.of());
    feeds.removeIf(feed -> feed.copies.isEmpty());
    for (Feed feed : feeds) {
      TileRing ring = rings.stream().filter(r -> r.joins(feed)).findFirst().orElse(null);
      if (ring == null) {
        ring = TileRing.of(feed);
        rings.add(ring);
      }
      ring.feeds.add(feed);
    }
    join();
    rings.forEach(ring -> ring.feeds.forEach(feed -> feed.ring = ring));
    Set<String> names = new HashSet<>();
    for (TileRing ring : rings) {
      ring.pipe = ring.pipe(names);
    }
    Stmt body = TileFacts.insideBlock(func.body(), true, this::insideBlock);
    return func.withBody(body);
  }

  /**
   * Joins rings that have become alike: a narrow tile does not fill the panels of the next one, but
   * those of a wider one behind it.
   */
  private void join() {
    for (int i = 0; i < rings.size(); i++) {
      for (int j = rings.size() - 1; j > i; j--) {
        List<Feed> both = new ArrayList<>(rings.get(j).feeds);
        both.addAll(rings.get(i).feeds);
        both.sort(Comparator.comparingLong(Feed::columns).reversed());
        TileRing joined = TileRing.of(both);
        if (joined != null) {
          rings.set(i, joined);
          rings.remove(j);
        }
      }
    }
  }

  private void collect(Stmt s, List<Stmt.For> around) {
    List<Stmt.For> inside = around;
    if (s instanceof Stmt.For f) {
      if (f.kind() == ForKind.PIPELINED) {
        feeds.add(feed(f, around));
      }
      inside = new ArrayList<>(around);
      inside.add(f);
    }
    for (Stmt child : Stmts.children(s)) {
      collect(child, inside);
    }
  }

  private Feed feed(Stmt.For loop, List<Stmt.For> around) {
    List<Stmt> waits = new ArrayList<>();
    List<WholeCopy> copies = new ArrayList<>();
    List<Stmt> rest = new ArrayList<>();
    Set<Buffer> targets = new HashSet<>();
    for (Stmt s : TileFacts.flat(loop.body())) {
      WholeCopy copy = WholeCopy.of(s);
      if (TileWaits.isWait(s) && copies.isEmpty() && rest.isEmpty()) {
        waits.add(s);
      } else if (rest.stream().allMatch(Stmt.Comment.class::isInstance)
          && copy != null
          && targets.add(copy.to())
          && isStaged(copy)) {
        copies.add(copy);
      } else {
        rest.add(s);
      }
    }
    copies.removeIf(copy -> !isLocal(copy.to(), rest));
    List<Stmt> others = new ArrayList<>(TileFacts.flat(loop.body()));
    copies.forEach(copy -> others.remove(copy.stmt()));
    others.removeAll(waits);
    return new Feed(loop, around, waits, copies, others);
  }

  private boolean isStaged(WholeCopy copy) {
    Scope scope = copy.to().scope();
    Buffer from = copy.from();
    return from.scope() == Scope.GLOBAL
        && (!written.contains(from)
            || copy.stmt() instanceof Stmt.TileCopy c && awaited.contains(c))
        && (scope == Scope.SHARED || scope == Scope.LOCAL);
  }

  /**
   * Whether whoever uses the buffer has copied it first: in each pipelined loop at the beginning,
   * and nowhere else; and nobody writes to it but the copies, or, without roles, whoever reads it.
   */
  private boolean isLocal(Buffer buffer, List<Stmt> rest) {
    boolean roles = func.attrs().getLong("consumers", 0) > 0;
    for (Stmt s : roles ? rest : List.<Stmt>of()) {
      boolean[] writes = {false};
      Walk.statements(s, inner -> writes[0] |= Leaves.of(inner).writes().contains(buffer));
      if (writes[0]) {
        return false;
      }
    }
    return !usedOutside(func.body(), buffer);
  }

  private boolean usedOutside(Stmt s, Buffer buffer) {
    if (s instanceof Stmt.For f && f.kind() == ForKind.PIPELINED) {
      boolean first =
          TileFacts.flat(f.body()).stream()
              .filter(inner -> touches(inner, buffer))
              .findFirst()
              .map(
                  inner ->
                      WholeCopy.of(inner) instanceof WholeCopy copy
                          && copy.to() == buffer
                          && isStaged(copy))
              .orElse(false);
      if (first) {
        return false;
      }
    }
    Leaves leaves = Leaves.of(s);
    return leaves.reads().contains(buffer)
        || leaves.writes().contains(buffer)
        || Stmts.children(s).stream().anyMatch(child -> usedOutside(child, buffer));
  }

  private static boolean touches(Stmt s, Buffer buffer) {
    boolean[] found = {false};
    Walk.statements(
        s,
        inner -> {
          Leaves leaves = Leaves.of(inner);
          found[0] |= leaves.reads().contains(buffer) || leaves.writes().contains(buffer);
        });
    return found[0];
  }

  private Stmt insideBlock(Stmt block) {
    Map<Buffer, Buffer> renamed = new HashMap<>();
    Set<Buffer> gone = new HashSet<>();
    for (TileRing ring : rings) {
      Pipe pipe = ring.pipe;
      ring.places.forEach(
          (tile, place) -> {
            gone.add(tile);
            if (pipe != null) {
              renamed.put(tile, pipe.buffers().get(place));
            }
          });
    }
    Stmt body = new Loops(renamed, gone).stmt(block);
    for (TileRing ring : rings.reversed()) {
      Pipe pipe = ring.pipe;
      if (pipe != null) {
        body = new Stmt.Flow.PipeScope(pipe, body);
      }
    }
    return body;
  }

  /** Makes produces and consumes of pipelined loops; the tiles are the pipes' from here on. */
  private final class Loops extends Rewriter {
    private final Map<Buffer, Buffer> renamed;
    private final Set<Buffer> gone;

    Loops(Map<Buffer, Buffer> renamed, Set<Buffer> gone) {
      this.renamed = renamed;
      this.gone = gone;
    }

    @Override
    protected Buffer buffer(Buffer buffer) {
      return renamed.getOrDefault(buffer, buffer);
    }

    @Override
    public Stmt stmt(Stmt s) {
      if (s instanceof Stmt.Alloc alloc && gone.contains(alloc.buffer())) {
        return stmt(alloc.body());
      }
      if (!(s instanceof Stmt.For f) || f.kind() != ForKind.PIPELINED) {
        return super.stmt(s);
      }
      boolean unroll = f.attrs().getLong("unrolled", 0) > 0;
      ForKind kind = unroll ? ForKind.UNROLLED : ForKind.SERIAL;
      Attrs attrs = f.attrs().without("stages").without("hold").without("lag").without("unrolled");
      Feed feed = feeds.stream().filter(each -> each.loop == f).findFirst().orElse(null);
      TileRing ring = feed == null ? null : feed.ring;
      Pipe pipe = ring == null ? null : ring.pipe;
      if (feed == null || pipe == null) {
        Stmt body = stmt(f.body());
        return new Stmt.For(f.var(), expr(f.min()), extent(f, unroll), kind, null, attrs, body);
      }
      Stmt produce =
          new Stmt.Flow.Produce(
              pipe, Stmts.seq(feed.copies.stream().map(copy -> stmt(copy.stmt())).toList()));
      Stmt consume =
          new Stmt.Flow.Consume(
              pipe,
              false,
              Stmts.seq(feed.rest.stream().map(each -> stmt(feed.underWay(each))).toList()));
      return new Stmt.For(
          f.var(),
          expr(f.min()),
          extent(f, unroll),
          kind,
          null,
          attrs,
          Stmts.seq(Stmts.seq(feed.waits.stream().map(this::stmt).toList()), produce, consume));
    }

    /** What is unrolled runs so many times. */
    private Expr extent(Stmt.For f, boolean unroll) {
      if (!unroll) {
        return expr(f.extent());
      }
      Interval times = Bounds.NONE.of(f.extent());
      if (times.min() != times.max()) {
        throw new PassRefusal(
            "pipelined loop "
                + f.var()
                + " is to be unrolled, but how often it runs is not constant");
      }
      return Exprs.i32(times.min());
    }
  }
}
