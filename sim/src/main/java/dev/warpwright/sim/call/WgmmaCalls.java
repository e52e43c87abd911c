package dev.warpwright.sim.call;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.sim.block.Blocked;
import dev.warpwright.sim.block.SharedRows;
import dev.warpwright.sim.block.Warp;
import dev.warpwright.sim.block.WarpNode;
import dev.warpwright.sim.block.WgmmaQueue;
import dev.warpwright.sim.expr.ExprCompiler;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.expr.MemoryAccess;
import dev.warpwright.sim.memory.Shadow;
import dev.warpwright.target.MatrixDescriptor;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import dev.warpwright.target.intrinsic.WgmmaGemm;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Compiles products of warpgroups. */
final class WgmmaCalls {
  /** Slots of the registers that products write or read. */
  private final List<Integer> registers = new ArrayList<>();

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
    WgmmaGemm meaning = HopperIntrinsics.wgmma(op);
    if (meaning == null) {
      throw site.unknown();
    }
    ExprCompiler exprs = site.calls().exprs();
    FirstOperand a = first(site, meaning);
    SharedTileOperand b = SharedTileOperand.ofProduct(exprs, site.address(2));
    MatrixDescriptor.of(b.buffer());
    Registers d = registers(site, 0, meaning.elements());
    LongExpr scale = site.value(3);
    return site.wholeWarp(
        w -> {
          Frame f = w.lanes[0];
          int from = d.first(f);
          boolean adds = scale.eval(f) != 0;
          int depth = meaning.depth();
          WgmmaQueue.First aLies = a.of(w);
          SharedRows bRows =
              meaning.mnMajorB()
                  ? b.panels(f, depth, meaning.columns())
                  : b.rows(f, meaning.columns(), depth);
          for (Frame lane : w.lanes) {
            if ((scale.eval(lane) != 0) != adds) {
              throw disagreement(site, lane);
            }
            Shadow shadow = d.checked(site, lane, from);
            if (shadow != null) {
              shadow.mmaWrites(lane, from, meaning.elements(), adds, site.where());
            }
          }
          WgmmaQueue queue = w.block.products(w);
          long epoch = queue.epoch(w);
          int rows = WgmmaGemm.ROWS / WgmmaQueue.WARPS;
          if (w.requests != null) {
            w.requests.counting().matrixMultiplyAdds((long) rows * meaning.columns() * depth);
          }
          int firstRow = w.index % WgmmaQueue.WARPS * rows;
          if (aLies instanceof WgmmaQueue.Tile(SharedRows aRows)) {
            if (meaning.mnMajorA()) {
              reads(site, w, aRows, 0, depth, firstRow, rows, epoch);
            } else if (firstRow < meaning.rows()) {
              reads(site, w, aRows, firstRow, rows, 0, depth, epoch);
            }
          }
          int bRowCount = meaning.mnMajorB() ? depth : meaning.columns();
          int bColumns = meaning.mnMajorB() ? meaning.columns() : depth;
          reads(site, w, bRows, 0, bRowCount, 0, bColumns, epoch);
          queue.issue(
              w,
              new WgmmaQueue.Wgmma(
                  meaning,
                  d.access.slot(),
                  from * meaning.accumulators().bytes(),
                  aLies,
                  bRows,
                  adds,
                  site.where()));
        });
  }

  /** Where A lies as a warp issues a product, after what is checked of it in registers. */
  private interface FirstOperand {
    WgmmaQueue.First of(Warp w);
  }

  private FirstOperand first(UnitSite site, WgmmaGemm meaning) {
    if (meaning.fromRegisters()) {
      Registers a = registers(site, 1, WgmmaGemm.A_REGISTERS);
      return w -> {
        int from = a.first(w.lanes[0]);
        for (Frame lane : w.lanes) {
          Shadow shadow = a.checked(site, lane, from);
          if (shadow != null) {
            shadow.mmaReads(lane, from, WgmmaGemm.A_REGISTERS, site.where());
          }
        }
        return new WgmmaQueue.Fragment(a.access.slot(), 4 * from);
      };
    }
    SharedTileOperand a = SharedTileOperand.ofProduct(site.calls().exprs(), site.address(1));
    MatrixDescriptor.of(a.buffer());
    return w -> {
      Frame f = w.lanes[0];
      return new WgmmaQueue.Tile(
          meaning.mnMajorA()
              ? a.panels(f, meaning.depth(), WgmmaGemm.ROWS)
              : a.rows(f, meaning.rows(), meaning.depth()));
    };
  }

  private Registers registers(UnitSite site, int operand, int count) {
    Buffer buffer = site.address(operand).buffer();
    MemoryAccess access =
        new MemoryAccess(site.calls().exprs(), buffer, site.address(operand).indices());
    registers.add(access.slot());
    return new Registers(buffer, access, access.offset(), count);
  }

  /** Consecutive registers of each thread that a product accesses. */
  private record Registers(Buffer buffer, MemoryAccess access, LongExpr offset, int count) {
    int first(Frame f) {
      int from = (int) offset.eval(f);
      if (from + count > buffer.storageElements()) {
        throw access.outOfBounds(f);
      }
      return from;
    }

    /** What is known of them, after checking that they are the warp's and fenced. */
    @Nullable Shadow checked(UnitSite site, Frame lane, int from) {
      if ((int) offset.eval(lane) != from) {
        throw disagreement(site, lane);
      }
      Shadow shadow = lane.shadows[access.slot()];
      if (shadow != null && shadow.touched) {
        throw site.misuse(
            lane, "no wgmma.fence after the threads' last access to " + buffer.name());
      }
      return shadow;
    }
  }

  private static SimulationError disagreement(UnitSite site, Frame lane) {
    return site.misuse(lane, "the lanes of the warp do not agree on the operands");
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
    for (int slot : registers) {
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
          WgmmaQueue queue = warp.block.products(warp);
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

  private record ProductWait(Stmt where, Warp warp, WgmmaQueue queue, long pending)
      implements Blocked {
    @Override
    public boolean isOver() {
      return queue.isIssued(warp, pending);
    }

    @Override
    public String what() {
      return "wgmma that other warps of the warpgroup have not issued";
    }
  }
}
