package dev.warpwright.ir.visit;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Exchanges a stage's tiles for those of the ring, which count the stages first. */
public final class StageOfRing extends Rewriter {
  private final Map<Buffer, Buffer> rings;
  private final @Nullable Expr stage;

  /**
   * For the tiles of a pipe.
   *
   * @param rings by tile, all stages of it
   * @param stage at hand; null of slices that say themselves which they are
   */
  public StageOfRing(Map<Buffer, Buffer> rings, @Nullable Expr stage) {
    this.rings = rings;
    this.stage = stage;
  }

  @Override
  public Region region(Region region) {
    Buffer ring = rings.get(region.buffer());
    if (ring == null) {
      return super.region(region);
    }
    List<Range> ranges = new ArrayList<>();
    if (stage != null) {
      ranges.add(Range.at(stage));
    }
    for (Range range : region.ranges()) {
      ranges.add(new Range(expr(range.min()), expr(range.extent())));
    }
    return new Region(ring, ranges);
  }

  @Override
  protected Stmt.Store store(Stmt.Store store) {
    return rings.get(store.buffer()) instanceof Buffer ring
        ? new Stmt.Store(ring, staged(store.indices()), expr(store.value()))
        : super.store(store);
  }

  private List<Expr> staged(List<Expr> indices) {
    List<Expr> at = new ArrayList<>();
    if (stage != null) {
      at.add(stage);
    }
    at.addAll(exprs(indices));
    return at;
  }

  @Override
  public Expr expr(Expr e) {
    if (e instanceof Expr.Load(Buffer buffer, List<Expr> indices)
        && rings.get(buffer) instanceof Buffer ring) {
      return new Expr.Load(ring, staged(indices));
    }
    return super.expr(e);
  }
}
