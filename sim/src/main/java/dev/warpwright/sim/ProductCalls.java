package dev.warpwright.sim;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Stmt;
import dev.warpwright.target.MatrixDescriptor;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import dev.warpwright.target.intrinsic.WarpgroupProduct;
import java.util.ArrayList;
import java.util.List;

/** Compiles products of warpgroups. */
final class ProductCalls {
  /** Slots of the registers that products write. */
  private final List<Integer> accumulators = new ArrayList<>();

  /** Compiles a call. */
  WarpNode compile(UnitSite site) {
    TargetIntrinsic op = site.intrinsic();
    if (op == HopperIntrinsics.WGMMA_FENCE) {
      return site.wholeWarp(this::fenceRegisters);
    }
    if (op == HopperIntrinsics.WGMMA_COMMIT) {
      return site.wholeWarp(w -> w.block.products(w).commit(w));
    }
    if (op == HopperIntrinsics.WGMMA_WAIT) {
      return productWait(site);
    }
    WarpgroupProduct meaning = HopperIntrinsics.product(op);
    if (meaning == null) {
      throw site.unknown();
    }
    ExprCompiler exprs = site.calls().exprs();
    SharedTileOperand a = SharedTileOperand.ofProduct(exprs, site.address(1));
    SharedTileOperand b = SharedTileOperand.ofProduct(exprs, site.address(2));
    MatrixDescriptor.of(a.buffer());
    MatrixDescriptor.of(b.buffer());
    Buffer registers = site.address(0).buffer();
    Access d = new Access(exprs, registers, site.address(0).indices());
    LongExpr first = d.offset();
    LongExpr scale = site.value(3);
    accumulators.add(d.slot());
    return site.wholeWarp(
        w -> {
          Frame f = w.lanes[0];
          int from = (int) first.eval(f);
          boolean adds = scale.eval(f) != 0;
          int depth = meaning.depth();
          SharedRows aRows =
              meaning.alongM()
                  ? a.panels(f, depth, WarpgroupProduct.ROWS)
                  : a.rows(f, WarpgroupProduct.ROWS, depth);
          SharedRows bRows =
              meaning.alongN()
                  ? b.panels(f, depth, meaning.columns())
                  : b.rows(f, meaning.columns(), depth);
          if (from + meaning.elements() > registers.storageElements()) {
            throw d.outOfBounds(f);
          }
          for (Frame lane : w.lanes) {
            if ((int) first.eval(lane) != from || (scale.eval(lane) != 0) != adds) {
              throw site.misuse(lane, "the lanes of the warp do not agree on the operands");
            }
            Shadow shadow = lane.shadows[d.slot()];
            if (shadow != null) {
              if (shadow.touched) {
                throw site.misuse(
                    lane, "no wgmma.fence after the threads' last access to " + registers.name());
              }
              shadow.productWrites(lane, from, meaning.elements(), adds, site.where());
            }
          }
          ProductQueue queue = w.block.products(w);
          long epoch = queue.epoch(w);
          int rows = WarpgroupProduct.ROWS / ProductQueue.WARPS;
          if (w.requests != null) {
            w.requests.counting().matrixMultiplyAdds((long) rows * meaning.columns() * depth);
          }
          int firstRow = w.index % ProductQueue.WARPS * rows;
          if (meaning.alongM()) {
            reads(site, w, aRows, 0, depth, firstRow, rows, epoch);
          } else {
            reads(site, w, aRows, firstRow, rows, 0, depth, epoch);
          }
          int bRowCount = meaning.alongN() ? depth : meaning.columns();
          int bColumns = meaning.alongN() ? meaning.columns() : depth;
          reads(site, w, bRows, 0, bRowCount, 0, bColumns, epoch);
          queue.issue(
              w,
              new ProductQueue.Product(
                  meaning,
                  d.slot(),
                  from * meaning.sums().bytes(),
                  aRows,
                  bRows,
                  adds,
                  site.where()));
        });
  }

  private static void reads(
      UnitSite site,
      Warp w,
      SharedRows rows,
      int firstRow,
      int count,
      int firstColumn,
      int columns,
      long epoch) {
    Shadow shadow = w.block.shadows[rows.slot()];
    if (shadow == null) {
      return;
    }
    for (int r = firstRow; r < firstRow + count; r++) {
      for (int c = firstColumn; c < firstColumn + columns; c += rows.chunk()) {
        shadow.unitReads(
            w.lanes[0],
            w.actor,
            epoch,
            rows.offset(r, c),
            rows.chunk(),
            site.where(),
            Shadow.WHOLE_WARP);
      }
    }
  }

  private void fenceRegisters(Warp w) {
    for (int slot : accumulators) {
      for (Frame f : w.lanes) {
        Shadow shadow = f.shadows[slot];
        if (shadow != null) {
          shadow.touched = false;
        }
      }
    }
  }

  private WarpNode productWait(UnitSite site) {
    LongExpr pending = site.value(0);
    return WarpNode.stopping(
        (warp, mask) -> {
          site.requireWhole(warp, mask);
          site.calls().run(warp, mask);
          long left = pending.eval(warp.lanes[0]);
          ProductQueue queue = warp.block.products(warp);
          return w -> {
            if (queue.isIssued(w, left)) {
              w.changes++;
              w.pop();
              queue.await(w, left);
            } else {
              w.block(new ProductWait(site.where(), w, queue, left));
            }
          };
        });
  }

  private record ProductWait(Stmt where, Warp warp, ProductQueue queue, long pending)
      implements Blocked {
    @Override
    public boolean isOver() {
      return queue.isIssued(warp, pending);
    }

    @Override
    public String what() {
      return "products that other warps of the warpgroup have not issued";
    }
  }
}
