package dev.warpwright.lower.tile;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Pipe;
import dev.warpwright.lower.gpu.OperandRing;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A ring in the making: the tiles of a stage, and which of a loop's tiles are which of them. */
final class TileRing {
  final List<Feed> feeds = new ArrayList<>();
  final Map<Buffer, Integer> places = new IdentityHashMap<>();
  List<Buffer> tiles = new ArrayList<>();
  @Nullable Pipe pipe;

  /** The ring of a loop's tiles. */
  static TileRing of(Feed feed) {
    TileRing ring = new TileRing();
    for (WholeCopy copy : feed.copies) {
      ring.places.put(copy.to(), ring.tiles.size());
      ring.tiles.add(copy.to());
    }
    return ring;
  }

  /** The ring that all these loops feed, which join it in their order; null if one does not. */
  static @Nullable TileRing of(List<Feed> feeds) {
    TileRing ring = of(feeds.getFirst());
    for (Feed feed : feeds) {
      if (!ring.feeds.isEmpty() && !ring.joins(feed)) {
        return null;
      }
      ring.feeds.add(feed);
    }
    return ring;
  }

  /**
   * Whether the loop's tiles are among the ring's or the other way round; if so they are joined.
   */
  boolean joins(Feed feed) {
    for (Feed other : feeds) {
      if (other.around.contains(feed.loop) || feed.around.contains(other.loop)) {
        return false;
      }
    }
    List<Buffer> joined = new ArrayList<>(tiles);
    Map<Buffer, Integer> itsPlaces = new IdentityHashMap<>();
    Set<Integer> taken = new HashSet<>();
    int added = 0;
    boolean alone = feed.isForWarpgroups() && feed.copies.size() == 1 && tiles.size() == 1;
    for (WholeCopy copy : feed.copies) {
      Buffer tile = copy.to();
      int place = -1;
      for (int i = 0; i < tiles.size() && place < 0; i++) {
        Buffer both = union(joined.get(i), tile, alone);
        boolean panels = both == null || fillsPanels(both, i, feed, tile);
        if (both != null && panels && !taken.contains(i) && known(tile, i)) {
          place = i;
          joined.set(i, both);
        }
      }
      if (place < 0) {
        place = joined.size();
        joined.add(tile);
        added++;
      }
      taken.add(place);
      itsPlaces.put(tile, place);
    }
    if (added > 0 && taken.size() - added < tiles.size()) {
      return false;
    }
    tiles = joined;
    places.putAll(itsPlaces);
    return true;
  }

  /**
   * Operands of warpgroups' products lie in panels of so many columns as the widest tile in their
   * place asks for: who brings fewer columns brings whole panels.
   */
  private boolean fillsPanels(Buffer both, int place, Feed feed, Buffer tile) {
    if (!feed.isForWarpgroups()) {
      return true;
    }
    List<Buffer> sharing = new ArrayList<>(List.of(tile));
    places.forEach(
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
  private boolean known(Buffer tile, int place) {
    Integer before = places.get(tile);
    return before == null || before == place;
  }

  /**
   * A buffer that holds either of two tiles, if one of them does; else null.
   *
   * @param larger whether it may be larger than both
   */
  private static @Nullable Buffer union(Buffer a, Buffer b, boolean larger) {
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
    boolean layouts = same ? Objects.equals(a.layout(), b.layout()) : isPlain(a, b);
    if (!layouts || a.alignment() != b.alignment()) {
      return null;
    }
    if (larger && !holds && !isHeld) {
      List<Expr> shape = new ArrayList<>();
      for (int d = 0; d < a.rank(); d++) {
        shape.add(Exprs.i32(Math.max(a.extent(d), b.extent(d))));
      }
      return a.withShape(shape);
    }
    return holds ? a : isHeld ? b : null;
  }

  private static boolean isPlain(Buffer a, Buffer b) {
    return a.layout() == null && b.layout() == null;
  }

  /**
   * The pipe, of as many stages as its loops ask for.
   *
   * @param names taken by pipes; its own is added
   */
  Pipe pipe(Set<String> names) {
    long stages = 1;
    int hold = 0;
    int lag = 0;
    for (Feed feed : feeds) {
      Attrs attrs = feed.loop.attrs();
      stages = Math.max(stages, attrs.getLong("stages", 2));
      hold = Math.max(hold, (int) attrs.getLong("hold", feed.overlaps() ? 1 : 0));
      lag = Math.max(lag, (int) attrs.getLong("lag", 0));
    }
    stages = Math.max(stages, hold + lag + 1);
    int lead = (int) stages - 1 - hold;
    Pipe.Options options = Pipe.Options.NONE.withLead(lead).withHold(hold).withLag(lag);
    List<Buffer> copies = new ArrayList<>();
    // Copies: a buffer belongs to one place of the program.
    for (Buffer tile : tiles) {
      copies.add(
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
    return new Pipe(name, (int) stages, copies.getFirst().scope(), copies, options);
  }
}
