package dev.warpwright.lower.tile;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.CopyLowering;
import dev.warpwright.lower.gpu.Guards;
import dev.warpwright.lower.gpu.OperandRing;
import dev.warpwright.lower.gpu.PanelOrder;
import dev.warpwright.lower.gpu.WarpgroupInstruction;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The part of {@link PackConstants} that finds weights of warpgroups' products which come by panels
 * of less than 128 bytes: the copy engine takes as long for a row of 32 bytes of a tensor map as
 * for one of 128 and more. In {@link PanelOrder} they need no tensor map.
 *
 * <p>That is a layout of the parameter, whose coordinates stay, whichever columns are permuted. So
 * slices need be no multiples of the groups in which they are, only of panels: 16 columns of a
 * weight of 256, say, which would be permuted by 32.
 */
final class PanelPacking {
  /** Bytes of a panel's rows from which on tensor maps are as fast. */
  private static final int WIDE = 128;

  /** Columns that slices have to be multiples of: nothing is permuted here. */
  private static final int ANY = 1;

  private final ConstantUses uses;
  private final List<Stmt> products = new ArrayList<>();
  private final Set<Buffer> weights = new LinkedHashSet<>();

  /** How many slices share a stage, by the copies in pipelined loops. */
  private final Map<Stmt, Long> slices = new IdentityHashMap<>();

  private PanelPacking(PrimFunc func, ConstantUses uses) {
    this.uses = uses;
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.TileMma mma
              && WarpgroupInstruction.isNamedBy(mma)
              && uses.weight(mma, ANY) instanceof Buffer weight) {
            products.add(mma);
            weights.add(weight);
          } else if (s instanceof Stmt.For f) {
            long shared = GroupSlices.ofStage(f);
            Walk.statements(f.body(), inner -> slices.merge(inner, shared, Math::max));
          }
        });
  }

  /**
   * How such a weight comes to shared memory.
   *
   * @param columns of a stage
   */
  private record Tiles(long rows, long columns, boolean streamed) {}

  /**
   * Weights in the order in which their panels lie in shared memory.
   *
   * @return a constant to what stands in its place, row by row and column by column the same
   */
  static Map<Buffer, Buffer> of(PrimFunc func, ConstantUses uses) {
    return new PanelPacking(func, uses).packed();
  }

  private Map<Buffer, Buffer> packed() {
    Map<Buffer, Tiles> tiles = new LinkedHashMap<>();
    for (Buffer weight : weights) {
      if (tiles(weight) instanceof Tiles found) {
        tiles.put(weight, found);
      }
    }
    // What flows does so through one ring, whose panels are those of its widest stage.
    long widest =
        tiles.values().stream().filter(Tiles::streamed).mapToLong(Tiles::columns).max().orElse(0);
    Map<Buffer, Buffer> packed = new LinkedHashMap<>();
    for (Map.Entry<Buffer, Tiles> each : tiles.entrySet()) {
      Buffer weight = each.getKey();
      Tiles its = each.getValue();
      int bytes = weight.dtype().bytes();
      long width = OperandRing.panelWidth(its.streamed ? widest : its.columns, bytes);
      if (width > 0
          && width * bytes < WIDE
          && its.columns % width == 0
          && PanelOrder.fits(weight, its.rows, width)) {
        packed.put(weight, PanelOrder.of(weight, its.rows, width));
      }
    }
    return packed;
  }

  /** The tiles of a weight, all of one shape; null if it has others, or other readers. */
  private @Nullable Tiles tiles(Buffer weight) {
    Tiles tiles = null;
    if (weight.layout() != null || !uses.isReadBy(weight, products)) {
      return null;
    }
    for (Stmt use : uses.of(weight)) {
      if (!(use instanceof Stmt.TileCopy copy)
          || copy.to().buffer().rank() != 2
          || copy.from().tile().size() != 2
          || !TileFacts.isWhole(copy.to())) {
        return null;
      }
      long rows = copy.to().buffer().extent(0);
      long columns = copy.to().buffer().extent(1);
      long stage = columns * slices.getOrDefault(copy, 1L);
      Tiles its = new Tiles(rows, stage, copy.attrs().has("stream"));
      boolean whole =
          Guards.extent(copy.from().ranges().get(0)) == rows
              && Guards.extent(copy.from().ranges().get(1)) == columns
              && CopyLowering.multipleOf(copy.from().ranges().get(0).min(), (int) rows)
              && CopyLowering.multipleOf(copy.from().ranges().get(1).min(), (int) columns);
      if (!whole || tiles != null && !tiles.equals(its)) {
        return null;
      }
      tiles = its;
    }
    return tiles;
  }
}
