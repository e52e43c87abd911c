package dev.warpwright.lower.tile;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.arith.Interval;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.OperandRing;
import dev.warpwright.lower.gpu.RowPairs;
import dev.warpwright.lower.pass.Allocated;
import dev.warpwright.lower.pass.PassListener;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

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
 * <p>A loop with {@code unrolled = 1} becomes straight-line code.
 *
 * <p>Guarantees: no loop is {@code pipeline} any more; the result computes the same, one after the
 * other. Stands before {@link AssignRoles}, which cuts along pipes, and behind the choice of copies
 * and layouts, which pipes take over as they are.
 *
 * <p>Requires: in a pipelined loop, whole tiles are copied from global memory that the program does
 * not write, or behind a wait for who writes it, before anything else; what is copied is used in
 * that loop only, or copied anew first. Copies that are not so stay where they are, as part of the
 * reading.
 */
public final class PlanPipes {
  private final PrimFunc func;
  private final Set<Buffer> written;
  private final Set<Stmt.TileCopy> awaited;
  private final List<Feed> feeds = new ArrayList<>();
  private final List<Ring> rings = new ArrayList<>();

  /** A pipelined loop, and what it copies before it uses it. */
  private static final class Feed {
    final Stmt.For loop;
    final List<Stmt.For> around;
    final List<WholeCopy> copies;
    final List<Stmt> rest;
    @Nullable Ring ring;

    /**
     * Whether nothing is done with tiles but products, which may be under way for a step more, or
     * what gathers their first operands.
     */
    boolean overlaps() {
      return loop.attrs().getLong("stages", 2) > 1
          && !loop.attrs().has("hold")
          && (rest.stream().allMatch(s -> s instanceof Stmt.TileMma mma && overlaps(mma))
              || areHalves(rest));
    }

    /** What of a stage is under way beyond it: all products, or of two halves the second. */
    Stmt underWay(Stmt s) {
      return overlaps() && s instanceof Stmt.TileMma mma && (overlaps(mma) || s == rest.getLast())
          ? PlanPipes.underWay(mma)
          : s;
    }

    /** Whether its tiles are operands of warpgroups' products. */
    boolean isForWarpgroups() {
      return rest.stream().anyMatch(s -> s instanceof Stmt.TileMma mma && isForWarpgroups(mma));
    }

    private static boolean isForWarpgroups(Stmt.TileMma mma) {
      String instruction = mma.attrs().getString("instr");
      return instruction != null && instruction.startsWith("wgmma.");
    }

    private static boolean overlaps(Stmt.TileMma mma) {
      return isForWarpgroups(mma)
          && mma.a().buffer().scope() == Scope.SHARED
          && !mma.attrs().has("inflight");
    }

    Feed(Stmt.For loop, List<Stmt.For> around, List<WholeCopy> copies, List<Stmt> rest) {
      this.loop = loop;
      this.around = around;
      this.copies = copies;
      this.rest = rest;
    }
  }

  /** A ring in the making: the tiles of a stage, and which of a loop's tiles are which of them. */
  private static final class Ring {
    final List<Feed> feeds = new ArrayList<>();
    final Map<Buffer, Integer> places = new IdentityHashMap<>();
    List<Buffer> tiles = new ArrayList<>();
    @Nullable Pipe pipe;
  }

  private PlanPipes(PrimFunc func) {
    this.func = func;
    this.written = TileFacts.written(func);
    this.awaited = TileFacts.awaited(func.body());
  }

  public static PrimFunc apply(PrimFunc func, PassListener listener) {
    return listener.tell("PlanPipes", apply(func));
  }

  public static PrimFunc apply(PrimFunc func) {
    PrimFunc kept = ResidentTiles.apply(func.withBody(outside(func.body())));
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
      Ring ring = rings.stream().filter(r -> joins(r, feed)).findFirst().orElse(null);
      if (ring == null) {
        ring = new Ring();
        rings.add(ring);
        for (WholeCopy copy : feed.copies) {
          ring.places.put(copy.to(), ring.tiles.size());
          ring.tiles.add(copy.to());
        }
      }
      feed.ring = ring;
      ring.feeds.add(feed);
    }
    Set<String> names = new HashSet<>();
    for (Ring ring : rings) {
      ring.pipe = pipe(ring, names);
    }
    Stmt body = TileFacts.insideBlock(func.body(), true, this::insideBlock);
    return func.withBody(body);
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
    List<WholeCopy> copies = new ArrayList<>();
    List<Stmt> rest = new ArrayList<>();
    Set<Buffer> targets = new HashSet<>();
    for (Stmt s : TileFacts.flat(loop.body())) {
      WholeCopy copy = WholeCopy.of(s);
      if (rest.stream().allMatch(Stmt.Comment.class::isInstance)
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
    return new Feed(loop, around, copies, others);
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

  /**
   * Whether the loop's tiles are among the ring's or the other way round; if so they are joined.
   */
  private static boolean joins(Ring ring, Feed feed) {
    for (Feed other : ring.feeds) {
      if (other.around.contains(feed.loop) || feed.around.contains(other.loop)) {
        return false;
      }
    }
    List<Buffer> tiles = new ArrayList<>(ring.tiles);
    Map<Buffer, Integer> places = new IdentityHashMap<>();
    Set<Integer> taken = new HashSet<>();
    int added = 0;
    for (WholeCopy copy : feed.copies) {
      Buffer tile = copy.to();
      int place = -1;
      for (int i = 0; i < ring.tiles.size() && place < 0; i++) {
        Buffer both = union(tiles.get(i), tile);
        boolean panels = both == null || fillsPanels(both, ring, i, feed, tile);
        if (both != null && panels && !taken.contains(i) && known(ring, tile, i)) {
          place = i;
          tiles.set(i, both);
        }
      }
      if (place < 0) {
        place = tiles.size();
        tiles.add(tile);
        added++;
      }
      taken.add(place);
      places.put(tile, place);
    }
    if (added > 0 && taken.size() - added < ring.tiles.size()) {
      return false;
    }
    ring.tiles = tiles;
    ring.places.putAll(places);
    return true;
  }

  /**
   * Operands of warpgroups' products lie in panels of so many columns as the widest tile in their
   * place asks for: who brings fewer columns brings whole panels.
   */
  private static boolean fillsPanels(Buffer both, Ring ring, int place, Feed feed, Buffer tile) {
    if (!feed.isForWarpgroups()) {
      return true;
    }
    List<Buffer> sharing = new ArrayList<>(List.of(tile));
    ring.places.forEach(
        (other, at) -> {
          if (at == place) {
            sharing.add(other);
          }
        });
    int last = both.rank() - 1;
    long width = OperandRing.panelWidth(both.extent(last), both.dtype().bytes());
    return width > 0 && sharing.stream().allMatch(each -> each.extent(last) % width == 0);
  }

  /** A buffer that several loops copy is the same tile of the ring in all of them. */
  private static boolean known(Ring ring, Buffer tile, int place) {
    Integer before = ring.places.get(tile);
    return before == null || before == place;
  }

  /** A buffer that holds either of two tiles, if one of them does; else null. */
  private static @Nullable Buffer union(Buffer a, Buffer b) {
    if (a.dtype() != b.dtype() || a.scope() != b.scope() || a.rank() != b.rank()) {
      return null;
    }
    boolean holds = true;
    boolean isHeld = true;
    for (int d = 0; d < a.rank(); d++) {
      holds &= a.extent(d) >= b.extent(d);
      isHeld &= a.extent(d) <= b.extent(d);
    }
    boolean same = holds && isHeld;
    boolean layouts = same ? java.util.Objects.equals(a.layout(), b.layout()) : isPlain(a, b);
    if (!layouts || a.alignment() != b.alignment()) {
      return null;
    }
    return holds ? a : isHeld ? b : null;
  }

  private static boolean isPlain(Buffer a, Buffer b) {
    return a.layout() == null && b.layout() == null;
  }

  private static Pipe pipe(Ring ring, Set<String> names) {
    long stages = 1;
    int hold = 0;
    int lag = 0;
    for (Feed feed : ring.feeds) {
      Attrs attrs = feed.loop.attrs();
      stages = Math.max(stages, attrs.getLong("stages", 2));
      hold = Math.max(hold, (int) attrs.getLong("hold", feed.overlaps() ? 1 : 0));
      lag = Math.max(lag, (int) attrs.getLong("lag", 0));
    }
    stages = Math.max(stages, hold + lag + 1);
    int lead = (int) stages - 1 - hold;
    Pipe.Options options = Pipe.Options.NONE.withLead(lead).withHold(hold).withLag(lag);
    List<Buffer> tiles = new ArrayList<>();
    // Copies: a buffer belongs to one place of the program.
    for (Buffer tile : ring.tiles) {
      tiles.add(
          new Buffer(
              tile.name(),
              tile.dtype(),
              tile.shape(),
              tile.scope(),
              tile.layout(),
              tile.alignment()));
    }
    String name = "ring";
    for (int n = 1; !names.add(name); n++) {
      name = "ring_" + n;
    }
    return new Pipe(name, (int) stages, tiles.getFirst().scope(), tiles, options);
  }

  private static Stmt underWay(Stmt.TileMma m) {
    return new Stmt.TileMma(
        m.c(), m.a(), m.b(), m.transposeA(), m.transposeB(), m.attrs().with("inflight", 1));
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
        && Feed.isForWarpgroups(mma);
  }

  private Stmt insideBlock(Stmt block) {
    Map<Buffer, Buffer> renamed = new HashMap<>();
    Set<Buffer> gone = new HashSet<>();
    for (Ring ring : rings) {
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
    for (Ring ring : rings.reversed()) {
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
      Ring ring = feed == null ? null : feed.ring;
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
          Stmts.seq(produce, consume));
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
