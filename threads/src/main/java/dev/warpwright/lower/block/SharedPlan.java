package dev.warpwright.lower.block;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Places the shared buffers of a block in one arena for each element type, so that buffers which
 * are not alive at the same time share space: a network of any depth then needs the room of its two
 * widest neighbouring layers.
 *
 * <p>A buffer is alive from the first to the last statement that touches it; inside a loop, during
 * the whole loop. First fit in the order of first use, as in linear-scan register allocation.
 */
final class SharedPlan {
  /** Where a buffer lies: elements {@code [offset, offset + size)} of its type's arena. */
  record Place(DType dtype, long offset, long size) {
    boolean overlaps(Place other) {
      return dtype == other.dtype
          && offset < other.offset + other.size
          && other.offset < offset + size;
    }
  }

  private record Live(Buffer buffer, int first, int last) {}

  private final Map<Buffer, Place> places = new HashMap<>();
  private final Map<DType, Long> arenaSizes = new EnumMap<>(DType.class);

  private SharedPlan() {}

  static SharedPlan of(Stmt body) {
    return of(body, buffer -> true);
  }

  /** Of some of the buffers; others are somebody else's. */
  static SharedPlan of(Stmt body, Predicate<Buffer> own) {
    Map<Buffer, int[]> ranges = new HashMap<>();
    new Positions(ranges, own).visit(body);
    List<Live> lives = new ArrayList<>();
    ranges.forEach((buffer, range) -> lives.add(new Live(buffer, range[0], range[1])));
    lives.sort(
        Comparator.comparingInt(Live::first).thenComparing((Live live) -> live.buffer().name()));
    SharedPlan plan = new SharedPlan();
    List<Live> placed = new ArrayList<>();
    for (Live live : lives) {
      plan.place(live, placed);
      placed.add(live);
    }
    return plan;
  }

  private void place(Live live, List<Live> placed) {
    Buffer buffer = live.buffer();
    DType dtype = buffer.dtype();
    // 16 bytes for vector accesses, more where the buffer asks for it.
    long granule = Math.max(16, buffer.alignment()) / dtype.bytes();
    long size = Math.ceilDiv(buffer.storageElements(), granule) * granule;
    List<Place> taken = new ArrayList<>();
    for (Live other : placed) {
      if (other.first() <= live.last() && live.first() <= other.last()) {
        Place place = place(other.buffer());
        if (place.dtype() == dtype) {
          taken.add(place);
        }
      }
    }
    taken.sort(Comparator.comparingLong(Place::offset));
    long offset = 0;
    for (Place place : taken) {
      if (offset + size <= place.offset()) {
        break;
      }
      offset = Math.max(offset, Math.ceilDiv(place.offset() + place.size(), granule) * granule);
    }
    places.put(buffer, new Place(dtype, offset, size));
    arenaSizes.merge(dtype, offset + size, Math::max);
  }

  /** Where a buffer lies. */
  Place place(Buffer buffer) {
    Place place = places.get(buffer);
    if (place == null) {
      throw new LoweringException(
          "shared buffer " + buffer.name() + " is allocated but never used");
    }
    return place;
  }

  /** Places what stands for a buffer. */
  void place(Buffer standing, Buffer buffer) {
    places.put(standing, place(buffer));
  }

  /** Whether a buffer has a place. */
  boolean has(Buffer buffer) {
    return places.containsKey(buffer);
  }

  /** Elements of each arena. */
  Map<DType, Long> arenaSizes() {
    return arenaSizes;
  }

  /** Numbers the leaf statements in order and notes first and last use of every shared buffer. */
  private static final class Positions {
    private final Map<Buffer, int[]> ranges;
    private final Predicate<Buffer> own;
    private int position;

    Positions(Map<Buffer, int[]> ranges, Predicate<Buffer> own) {
      this.ranges = ranges;
      this.own = own;
    }

    void visit(Stmt s) {
      switch (s) {
        case Stmt.Seq(List<Stmt> stmts) -> stmts.forEach(this::visit);
        case Stmt.Alloc(Buffer buffer, Stmt inner) -> visit(inner);
        case Stmt.Let let -> visit(let.body());
        case Stmt.For loop -> {
          int before = position;
          visit(loop.body());
          widen(before);
        }
        case Stmt.While loop -> {
          int before = position;
          visit(loop.body());
          widen(before);
        }
        case Stmt.If branch -> {
          visit(branch.then());
          if (branch.otherwise() != null) {
            visit(branch.otherwise());
          }
        }
        case Stmt.Store leaf -> touch(leaf);
        case Stmt.Evaluate leaf -> touch(leaf);
        case Stmt.TileCopy leaf -> touch(leaf);
        case Stmt.TileFill leaf -> touch(leaf);
        case Stmt.TileMma leaf -> touch(leaf);
        case Stmt.TileMap leaf -> touch(leaf);
        case Stmt.TileReduce leaf -> touch(leaf);
        case Stmt.Comment comment -> {}
        case Stmt.Flow.Consume read -> visit(read.body());
        case Stmt.Flow flow ->
            throw new LoweringException("pipes, roles and signals are not lowered here");
        case Stmt.Block block ->
            throw new LoweringException(
                "block " + block.name() + " was not turned into a tile statement");
      }
    }

    /** Whatever a loop touches is alive during the whole loop. */
    private void widen(int before) {
      for (int[] range : ranges.values()) {
        if (range[1] > before) {
          range[0] = Math.min(range[0], before + 1);
          range[1] = position;
        }
      }
    }

    private void touch(Stmt leaf) {
      position++;
      Leaves accesses = Leaves.of(leaf);
      for (Set<Buffer> touched : List.of(accesses.reads(), accesses.writes())) {
        for (Buffer buffer : touched) {
          if (buffer.scope() == Scope.SHARED && own.test(buffer)) {
            ranges.computeIfAbsent(buffer, b -> new int[] {position, position})[1] = position;
          }
        }
      }
    }
  }
}
