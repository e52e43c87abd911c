package dev.warpwright.sim;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.target.MatrixDescriptor;
import dev.warpwright.target.TensorMaps;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import dev.warpwright.target.intrinsic.WarpgroupProduct;
import java.util.ArrayList;
import java.util.List;

/** Compiles calls of intrinsics that drive a unit of the chip beside the threads. */
final class UnitCalls {
  private static final int MIN_REGISTERS = 24;
  private static final int MAX_REGISTERS = 256;

  private final Context context;

  /** Slots of the registers that products write. */
  private final List<Integer> accumulators = new ArrayList<>();

  UnitCalls(Context context) {
    this.context = context;
  }

  /** One call under compilation. */
  private record Site(Stmt.Evaluate where, TargetIntrinsic intrinsic, WarpCalls calls) {
    Expr arg(int i) {
      return where.call().args().get(i);
    }

    Expr.AddressOf address(int i) {
      return (Expr.AddressOf) arg(i);
    }

    LongExpr value(int i) {
      return calls.exprs().integer(arg(i));
    }

    int constant(int i) {
      return (int) ((Expr.IntImm) arg(i)).value();
    }
  }

  /** Something that one thread does. */
  private interface ThreadAction {
    void run(Warp w, int lane, Frame f);
  }

  /** Something that a whole warp does. */
  private interface WarpAction {
    void run(Warp w);
  }

  WarpNode compile(Stmt.Evaluate where, TargetIntrinsic intrinsic, WarpCalls calls) {
    Site site = new Site(where, intrinsic, calls);
    return switch (((TargetIntrinsic.Drives) intrinsic.effect()).unit()) {
      case MBARRIER -> barrier(site);
      case BULK_COPY -> bulkCopy(site);
      case WARPGROUP_MMA -> product(site);
      case CLUSTER -> clusterSync(site);
      case NAMED_BARRIER -> namedBarrier(site);
      case REGISTER_FILE -> registers(site);
      case PROXY -> fence(site);
      case COUNTER -> {
        WarpNode.Straight add = Counters.add(where, calls);
        yield WarpNode.straight(
            (w, mask) -> {
              calls.run(w, mask);
              add.run(w, mask);
            });
      }
    };
  }

  private static WarpNode eachThread(Site site, ThreadAction action) {
    return WarpNode.straight(
        (w, mask) -> {
          w.changes++;
          site.calls.run(w, mask);
          for (int m = mask; m != 0; m &= m - 1) {
            int lane = Integer.numberOfTrailingZeros(m);
            action.run(w, lane, w.lanes[lane]);
          }
        });
  }

  private WarpNode wholeWarp(Site site, WarpAction action) {
    return WarpNode.straight(
        (w, mask) -> {
          requireWhole(site, w, mask);
          w.changes++;
          site.calls.run(w, mask);
          action.run(w);
        });
  }

  private void requireWhole(Site site, Warp w, int mask) {
    if (mask != w.fullMask() || w.lanes.length != 32) {
      throw WarpCalls.diverged(context, w, mask, site.where, Finding.Kind.INTRINSIC);
    }
  }

  /** The barrier that an address means for a thread, in a block of its cluster. */
  private interface BarrierOf {
    MBarrier get(BlockRun block, Frame f);
  }

  private BarrierOf barrierOf(Site site, int arg) {
    Expr.AddressOf address = site.address(arg);
    Access access = new Access(site.calls.exprs(), address.buffer(), address.indices());
    LongExpr offset = access.offset();
    int slot = access.slot();
    return (block, f) -> block.barrier(slot, (int) offset.eval(f));
  }

  private WarpNode barrier(Site site) {
    TargetIntrinsic op = site.intrinsic;
    if (op == HopperIntrinsics.FENCE_MBARRIER_INIT) {
      return eachThread(site, (w, lane, f) -> publish(w));
    }
    BarrierOf barrier = barrierOf(site, 0);
    if (op == HopperIntrinsics.MBARRIER_WAIT) {
      return barrierWait(site, barrier);
    }
    if (op == HopperIntrinsics.MBARRIER_ARRIVE) {
      return eachThread(
          site, (w, lane, f) -> barrier.get(w.block, f).arrive(f, w.actor, 0, site.where));
    }
    LongExpr value = site.value(1);
    if (op == HopperIntrinsics.MBARRIER_INIT) {
      return eachThread(
          site,
          (w, lane, f) -> barrier.get(w.block, f).init(f, w.actor, value.eval(f), site.where));
    }
    if (op == HopperIntrinsics.MBARRIER_ARRIVE_EXPECT_TX) {
      return eachThread(
          site,
          (w, lane, f) -> barrier.get(w.block, f).arrive(f, w.actor, value.eval(f), site.where));
    }
    if (op == HopperIntrinsics.MBARRIER_ARRIVE_CLUSTER) {
      return eachThread(
          site,
          (w, lane, f) -> {
            BlockRun target = blockOfRank(site, w, f, value.eval(f));
            barrier.get(target, f).arrive(f, w.actor, 0, site.where);
          });
    }
    throw unknown(site);
  }

  private static void publish(Warp w) {
    w.block.unpublished.forEach(MBarrier::publish);
    w.block.unpublished.clear();
  }

  private BlockRun blockOfRank(Site site, Warp w, Frame f, long rank) {
    List<BlockRun> blocks = w.block.in.blocks;
    if (rank < 0 || rank >= blocks.size()) {
      throw misuse(site, f, "the cluster has no block " + rank + ", only " + blocks.size());
    }
    BlockRun block = blocks.get((int) rank);
    if (block.ended()) {
      throw misuse(site, f, "block " + block + " of the cluster has ended");
    }
    return block;
  }

  private SimulationError misuse(Site site, Frame f, String detail) {
    return context.fault(Finding.Kind.INTRINSIC, site.where, f, "", detail);
  }

  private static IllegalArgumentException unknown(Site site) {
    return new IllegalArgumentException("the simulator does not know " + site.intrinsic.text());
  }

  private static WarpNode barrierWait(Site site, BarrierOf barrier) {
    LongExpr parity = site.value(1);
    return WarpNode.stopping(
        (warp, mask) -> {
          site.calls.run(warp, mask);
          int n = Integer.bitCount(mask);
          MBarrier[] barriers = new MBarrier[n];
          long[] parities = new long[n];
          Frame[] frames = new Frame[n];
          int i = 0;
          for (int m = mask; m != 0; m &= m - 1) {
            Frame f = warp.lanes[Integer.numberOfTrailingZeros(m)];
            frames[i] = f;
            barriers[i] = barrier.get(warp.block, f);
            parities[i++] = parity.eval(f);
          }
          return w -> {
            for (int k = 0; k < n; k++) {
              barriers[k].requireInTime(frames[k], w.actor, parities[k], site.where);
              if (!barriers[k].isOver(parities[k])) {
                w.block(new BarrierWait(site.where, barriers[k], parities[k]));
                return;
              }
            }
            w.changes++;
            w.pop();
            for (MBarrier b : barriers) {
              b.acquire(w.actor);
            }
          };
        });
  }

  private record BarrierWait(Stmt where, MBarrier barrier, long parity) implements Blocked {
    @Override
    public boolean isOver() {
      return barrier.isOver(parity);
    }

    @Override
    public String what() {
      return "parity " + parity + " of " + barrier.missing();
    }
  }

  private WarpNode bulkCopy(Site site) {
    TargetIntrinsic op = site.intrinsic;
    if (op == HopperIntrinsics.BULK_COMMIT) {
      return eachThread(site, (w, lane, f) -> w.stores[lane].commit());
    }
    if (op == HopperIntrinsics.BULK_WAIT_READ || op == HopperIntrinsics.BULK_WAIT) {
      LongExpr pending = site.value(0);
      return op == HopperIntrinsics.BULK_WAIT
          ? eachThread(site, (w, lane, f) -> w.stores[lane].await(pending.eval(f)))
          : eachThread(site, (w, lane, f) -> w.stores[lane].awaitRead(pending.eval(f)));
    }
    // Refuses what no tensor map describes.
    TensorMaps.spec(site.where.call());
    ExprCompiler exprs = site.calls.exprs();
    if (op == HopperIntrinsics.BULK_STORE) {
      SharedTileOperand source = new SharedTileOperand(exprs, site.address(1));
      GlobalTileOperand target = new GlobalTileOperand(exprs, site.address(0));
      int rows = site.constant(2);
      int columns = site.constant(3);
      return eachThread(
          site, (w, lane, f) -> store(site, w, lane, f, source, target, rows, columns));
    }
    SharedTileOperand target = new SharedTileOperand(exprs, site.address(0));
    GlobalTileOperand source = new GlobalTileOperand(exprs, site.address(1));
    BarrierOf barrier = barrierOf(site, 2);
    int rows = site.constant(3);
    int columns = site.constant(4);
    boolean multicast = op == HopperIntrinsics.BULK_LOAD_MULTICAST;
    LongExpr blocks = multicast ? site.value(5) : f -> 0;
    return eachThread(
        site,
        (w, lane, f) -> {
          GlobalTileOperand.Tile tile = source.at(f, rows, columns);
          SharedRows to = target.rows(f, rows, columns);
          if (!multicast) {
            load(site, w, f, w.block, tile, to, rows, columns, barrier);
            return;
          }
          long mask = blocks.eval(f);
          if (mask == 0 || mask >>> w.block.in.blocks.size() != 0) {
            throw misuse(
                site,
                f,
                "mask " + mask + " for a cluster of " + w.block.in.blocks.size() + " blocks");
          }
          for (int rank = 0; mask >>> rank != 0; rank++) {
            if ((mask >>> rank & 1) != 0) {
              BlockRun block = blockOfRank(site, w, f, rank);
              load(site, w, f, block, tile, to, rows, columns, barrier);
            }
          }
        });
  }

  private static void load(
      Site site,
      Warp w,
      Frame f,
      BlockRun block,
      GlobalTileOperand.Tile source,
      SharedRows target,
      int rows,
      int columns,
      BarrierOf barrierOf) {
    MBarrier barrier = barrierOf.get(block, f);
    barrier.requireMade(f, w.actor, site.where, true);
    int phase = barrier.phase();
    long epoch = w.actor.epoch(barrier.agent, phase + 1);
    block.outstanding.learn(barrier.agent, phase + 1);
    source.beginRead(w.actor, epoch);
    Shadow shadow = block.shadows[target.slot()];
    if (shadow != null) {
      shadow.unitWrites(f, w.actor, epoch, (int) target.first(), rows * columns, site.where);
    }
    block.in.loads.add(
        new BulkLoads.Load(f, source, block, target, rows, columns, barrier, phase, site.where));
  }

  private static void store(
      Site site,
      Warp w,
      int lane,
      Frame f,
      SharedTileOperand source,
      GlobalTileOperand target,
      int rows,
      int columns) {
    SharedRows from = source.rows(f, rows, columns);
    GlobalTileOperand.Tile to = target.at(f, rows, columns);
    BulkStores stores = w.stores[lane];
    Shadow shadow = w.block.shadows[from.slot()];
    long epoch = stores.readEpoch();
    if (shadow != null) {
      shadow.unitReads(f, w.actor, epoch, (int) from.first(), rows * columns, site.where);
    }
    to.beginWrite(w.actor, stores.writeEpoch());
    int rowBytes = columns * from.elementBytes();
    byte[] tile = new byte[rows * rowBytes];
    stores.add(
        new BulkStores.Store() {
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

  private WarpNode product(Site site) {
    TargetIntrinsic op = site.intrinsic;
    if (op == HopperIntrinsics.WGMMA_FENCE) {
      return wholeWarp(site, this::fenceRegisters);
    }
    if (op == HopperIntrinsics.WGMMA_COMMIT) {
      return wholeWarp(site, w -> w.block.products(w).commit(w));
    }
    if (op == HopperIntrinsics.WGMMA_WAIT) {
      return productWait(site);
    }
    WarpgroupProduct meaning = HopperIntrinsics.product(op);
    if (meaning == null) {
      throw unknown(site);
    }
    ExprCompiler exprs = site.calls.exprs();
    SharedTileOperand a = new SharedTileOperand(exprs, site.address(1));
    SharedTileOperand b = new SharedTileOperand(exprs, site.address(2));
    MatrixDescriptor.of(a.buffer());
    MatrixDescriptor.of(b.buffer());
    Buffer registers = site.address(0).buffer();
    Access d = new Access(exprs, registers, site.address(0).indices());
    LongExpr first = d.offset();
    LongExpr scale = site.value(3);
    accumulators.add(d.slot());
    return wholeWarp(
        site,
        w -> {
          Frame f = w.lanes[0];
          int from = (int) first.eval(f);
          boolean adds = scale.eval(f) != 0;
          SharedRows aRows = a.rows(f, WarpgroupProduct.ROWS, WarpgroupProduct.DEPTH);
          SharedRows bRows = b.rows(f, meaning.columns(), WarpgroupProduct.DEPTH);
          if (from + meaning.elements() > registers.storageElements()) {
            throw d.outOfBounds(f);
          }
          for (Frame lane : w.lanes) {
            if ((int) first.eval(lane) != from || (scale.eval(lane) != 0) != adds) {
              throw misuse(site, lane, "the lanes of the warp do not agree on the operands");
            }
            Shadow shadow = lane.shadows[d.slot()];
            if (shadow != null) {
              if (shadow.touched) {
                throw misuse(
                    site,
                    lane,
                    "no wgmma.fence after the threads' last access to " + registers.name());
              }
              shadow.productWrites(lane, from, meaning.elements(), adds, site.where);
            }
          }
          ProductQueue queue = w.block.products(w);
          long epoch = queue.epoch(w);
          int rows = WarpgroupProduct.ROWS / ProductQueue.WARPS;
          int firstRow = w.index % ProductQueue.WARPS * rows;
          reads(site, w, aRows, firstRow, rows, epoch);
          reads(site, w, bRows, 0, meaning.columns(), epoch);
          queue.issue(
              w,
              new ProductQueue.Product(
                  meaning, d.slot(), from * Float.BYTES, aRows, bRows, adds, site.where));
        });
  }

  private static void reads(
      Site site, Warp w, SharedRows rows, int firstRow, int count, long epoch) {
    Shadow shadow = w.block.shadows[rows.slot()];
    if (shadow == null) {
      return;
    }
    for (int r = firstRow; r < firstRow + count; r++) {
      for (int c = 0; c < WarpgroupProduct.DEPTH; c += rows.chunk()) {
        shadow.unitReads(w.lanes[0], w.actor, epoch, rows.offset(r, c), rows.chunk(), site.where);
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

  private WarpNode productWait(Site site) {
    LongExpr pending = site.value(0);
    return WarpNode.stopping(
        (warp, mask) -> {
          requireWhole(site, warp, mask);
          site.calls.run(warp, mask);
          long left = pending.eval(warp.lanes[0]);
          ProductQueue queue = warp.block.products(warp);
          return w -> {
            if (queue.isIssued(w, left)) {
              w.changes++;
              w.pop();
              queue.await(w, left);
            } else {
              w.block(new ProductWait(site.where, w, queue, left));
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

  private WarpNode clusterSync(Site site) {
    return WarpNode.stopping(
        (warp, mask) -> {
          if (mask != warp.fullMask()) {
            throw WarpCalls.diverged(context, warp, mask, site.where, Finding.Kind.BARRIER);
          }
          return w -> {
            w.pop();
            w.changes++;
            w.waiting = site.where;
            w.waitingForCluster = true;
          };
        });
  }

  private WarpNode namedBarrier(Site site) {
    LongExpr id = site.value(0);
    LongExpr threads = site.value(1);
    return WarpNode.stopping(
        (warp, mask) -> {
          if (mask != warp.fullMask()) {
            throw WarpCalls.diverged(context, warp, mask, site.where, Finding.Kind.BARRIER);
          }
          site.calls.run(warp, mask);
          long number = id.eval(warp.lanes[0]);
          long count = threads.eval(warp.lanes[0]);
          return w -> {
            w.pop();
            w.block.named.arrive(w, number, count, site.where);
          };
        });
  }

  private WarpNode registers(Site site) {
    LongExpr count = site.value(0);
    boolean takes = site.intrinsic == HopperIntrinsics.SETMAXNREG_INC;
    return WarpNode.stopping(
        (warp, mask) -> {
          requireWhole(site, warp, mask);
          Frame f = warp.lanes[0];
          int n = (int) count.eval(f);
          RegisterPool pool = warp.block.registers();
          if (pool == null) {
            throw misuse(site, f, "it is ignored unless the kernel says minBlocks");
          }
          if (n < MIN_REGISTERS || n > MAX_REGISTERS || n % 8 != 0) {
            throw misuse(site, f, n + " registers, possible are multiples of 8 from 24 to 256");
          }
          int now = pool.of(warp.index);
          if (takes ? now > n : now < n) {
            throw misuse(site, f, "the threads have " + now + " registers already");
          }
          return w -> {
            if (pool.suffices(w.index, n)) {
              w.changes++;
              w.pop();
              pool.set(w.index, n);
            } else {
              w.block(new RegisterWait(site.where, pool, w.index, n));
            }
          };
        });
  }

  private record RegisterWait(Stmt where, RegisterPool pool, int warp, int count)
      implements Blocked {
    @Override
    public boolean isOver() {
      return pool.suffices(warp, count);
    }

    @Override
    public String what() {
      return count
          + " registers for each thread, which has "
          + pool.of(warp)
          + " (at entry "
          + pool.entry()
          + "); the pool has "
          + pool.free()
          + " left";
    }
  }

  private static WarpNode fence(Site site) {
    Actor.Fence kind =
        site.intrinsic == HopperIntrinsics.FENCE_PROXY_ASYNC
            ? Actor.Fence.SHARED
            : Actor.Fence.GLOBAL;
    return WarpNode.straight(
        (w, mask) -> {
          w.changes++;
          w.actor.fence(kind, mask);
        });
  }
}
