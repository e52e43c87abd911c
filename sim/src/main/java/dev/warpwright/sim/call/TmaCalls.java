package dev.warpwright.sim.call;

import dev.warpwright.sim.block.BlockRun;
import dev.warpwright.sim.block.MBarrier;
import dev.warpwright.sim.block.SharedRows;
import dev.warpwright.sim.block.TmaLoads;
import dev.warpwright.sim.block.TmaStores;
import dev.warpwright.sim.block.Warp;
import dev.warpwright.sim.block.WarpNode;
import dev.warpwright.sim.expr.ExprCompiler;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.memory.Actor;
import dev.warpwright.sim.memory.Shadow;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import dev.warpwright.target.intrinsic.TensorMaps;

/** Compiles bulk tensor copies. */
final class TmaCalls {
  private TmaCalls() {}

  /** Compiles a call. */
  static WarpNode compile(UnitSite site) {
    TargetIntrinsic op = site.intrinsic();
    if (op == HopperIntrinsics.BULK_COMMIT) {
      return site.eachThread((w, lane, f) -> w.stores[lane].commit());
    }
    if (op == HopperIntrinsics.BULK_WAIT_READ || op == HopperIntrinsics.BULK_WAIT) {
      LongExpr pending = site.value(0);
      return op == HopperIntrinsics.BULK_WAIT
          ? site.eachThread((w, lane, f) -> w.stores[lane].await(pending.eval(f)))
          : site.eachThread((w, lane, f) -> w.stores[lane].awaitRead(pending.eval(f)));
    }
    if (op == HopperIntrinsics.BULK_LOAD_LINEAR) {
      return linear(site);
    }
    // Refuses what no tensor map describes.
    TensorMaps.spec(site.where().call());
    ExprCompiler exprs = site.calls().exprs();
    if (HopperIntrinsics.isTmaStore(op)) {
      SharedTileOperand source = SharedTileOperand.ofCopy(exprs, site.address(1));
      GlobalTileOperand target = new GlobalTileOperand(exprs, site.address(0));
      int rows = site.constant(2);
      int columns = site.constant(3);
      return site.eachThread(
          (w, lane, f) -> store(site, w, lane, f, source, target, rows, columns));
    }
    SharedTileOperand target = SharedTileOperand.ofCopy(exprs, site.address(0));
    GlobalTileOperand source = new GlobalTileOperand(exprs, site.address(1));
    UnitSite.BarrierOf barrier = site.barrierOf(2);
    int rows = site.constant(3);
    int columns = site.constant(4);
    boolean multicast = HopperIntrinsics.isMulticast(op);
    LongExpr blocks = multicast ? site.value(5) : f -> 0;
    return site.eachThread(
        (w, lane, f) -> {
          GlobalTileOperand.Tile tile = source.at(f, rows, columns);
          SharedRows to = target.rows(f, rows, columns);
          tile.count(true, multicast ? Long.bitCount(blocks.eval(f)) : 1);
          if (!multicast) {
            load(site, w, f, w.block, tile, to, rows, columns, barrier);
            return;
          }
          long mask = blocks.eval(f);
          if (mask == 0 || mask >>> w.block.in.blocks.size() != 0) {
            throw site.misuse(
                f, "mask " + mask + " for a cluster of " + w.block.in.blocks.size() + " blocks");
          }
          for (int rank = 0; mask >>> rank != 0; rank++) {
            if ((mask >>> rank & 1) != 0) {
              BlockRun block = site.blockOfRank(w, f, rank);
              load(site, w, f, block, tile, to, rows, columns, barrier);
            }
          }
        });
  }

  /** Elements that follow each other in both memories. */
  private static WarpNode linear(UnitSite site) {
    int count = site.constant(3) * site.constant(4);
    LinearOperand target = new LinearOperand(site, site.address(0), count);
    LinearOperand source = new LinearOperand(site, site.address(1), count);
    UnitSite.BarrierOf barrier = site.barrierOf(2);
    return site.eachThread(
        (w, lane, f) -> {
          SharedRows to = target.shared(f, w.block.memory);
          LinearOperand.Run from = source.global(f);
          from.count();
          load(site, w, f, w.block, from, to, 1, count, barrier);
        });
  }

  /** What a copy reads. */
  interface Source {
    /** It is being read until the epoch ends. */
    void beginRead(Actor actor, long epoch);

    byte[] load();
  }

  private static void load(
      UnitSite site,
      Warp w,
      Frame f,
      BlockRun block,
      Source source,
      SharedRows target,
      int rows,
      int columns,
      UnitSite.BarrierOf barrierOf) {
    MBarrier barrier = barrierOf.get(block, f);
    barrier.requireMade(f, w.actor, site.where(), true);
    int phase = barrier.phase();
    long epoch = w.actor.epoch(barrier.agent, phase + 1);
    if (block == w.block) {
      block.outstanding.learn(barrier.agent, phase + 1);
    } else {
      barrier.copiedTo(f, epoch, site.where());
    }
    source.beginRead(w.actor, epoch);
    Shadow shadow = block.shadows[target.slot()];
    if (shadow != null) {
      shadow.unitWrites(f, w.actor, epoch, (int) target.first(), rows * columns, site.where());
    }
    block.in.loads.add(
        new TmaLoads.Load(
            f, source::load, block, target, rows, columns, barrier, phase, site.where()));
  }

  private static void store(
      UnitSite site,
      Warp w,
      int lane,
      Frame f,
      SharedTileOperand source,
      GlobalTileOperand target,
      int rows,
      int columns) {
    SharedRows from = source.rows(f, rows, columns);
    GlobalTileOperand.Tile to = target.at(f, rows, columns);
    TmaStores stores = w.stores[lane];
    Shadow shadow = w.block.shadows[from.slot()];
    long epoch = stores.readEpoch();
    if (shadow != null) {
      shadow.unitReads(
          f, w.actor, epoch, (int) from.first(), rows * columns, site.where(), f.warpLane);
    }
    to.beginWrite(w.actor, stores.writeEpoch());
    to.count(false, 1);
    int rowBytes = columns * from.elementBytes();
    byte[] tile = new byte[rows * rowBytes];
    stores.add(
        new TmaStores.Store() {
          @Override
          public void read() {
            for (int r = 0; r < rows; r++) {
              for (int at = 0; at < rowBytes; at += SharedRows.CHUNK_BYTES) {
                System.arraycopy(
                    w.block.memory[from.slot()],
                    from.offset(r, at / from.elementBytes()) * from.elementBytes(),
                    tile,
                    r * rowBytes + at,
                    SharedRows.CHUNK_BYTES);
              }
            }
          }

          @Override
          public void write() {
            to.store(tile);
          }
        });
  }
}
