package dev.warpwright.lower.flow;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.visit.Rewriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Exchanges a stage's tiles for those of the ring, which count the stages first. */
final class StageOfRing extends Rewriter {
  private final LoweredPipe pipe;
  private final Expr stage;

  StageOfRing(LoweredPipe pipe, Expr stage) {
    this.pipe = pipe;
    this.stage = stage;
  }

  @Override
  public Region region(Region region) {
    Buffer ring = pipe.ring(region.buffer());
    if (ring == null) {
      return super.region(region);
    }
    List<Range> ranges = new ArrayList<>();
    if (!pipe.resident()) {
      ranges.add(Range.at(stage));
    }
    for (Range range : region.ranges()) {
      ranges.add(new Range(expr(range.min()), expr(range.extent())));
    }
    return new Region(ring, ranges);
  }

  @Override
  public Expr expr(Expr e) {
    if (e instanceof Expr.Load(Buffer buffer, List<Expr> indices) && pipe.ring(buffer) != null) {
      List<Expr> at = new ArrayList<>();
      if (!pipe.resident()) {
        at.add(stage);
      }
      at.addAll(exprs(indices));
      Buffer ring = Objects.requireNonNull(pipe.ring(buffer));
      return new Expr.Load(ring, at);
    }
    return super.expr(e);
  }
}
