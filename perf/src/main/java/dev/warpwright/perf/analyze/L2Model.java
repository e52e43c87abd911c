package dev.warpwright.perf.analyze;

import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.BlockOrder.Tile;
import dev.warpwright.perf.analyze.Part.GemmShape;
import dev.warpwright.target.DeviceModel;
import java.util.Arrays;
import java.util.List;

/**
 * Which bytes of a product come from device memory: all tiles that run at a time read their
 * operands along K in step, through a second-level cache that gives up what was used longest ago.
 *
 * <p>Two numbers are fitted to counters of an H200. Half of the cache counts, and a little more: it
 * has two parts, and each keeps its own copy of what its multiprocessors read. And blocks drift
 * apart: by up to a fifth of a tile where a block ends with its tile, half as much where blocks
 * stay.
 */
final class L2Model {
  /** Of the cache. */
  static final double USED_PART = 0.525;

  private static final double DRIFT = 0.2;
  private static final double DRIFT_PERSISTENT = 0.1;

  /** Elements along K that are one access; longer where there would be too many accesses. */
  private static final int CHUNK = 256;

  private static final long MOST_ACCESSES = 1 << 20;

  private static final double GOLDEN = 0.6180339887498949;

  private final GemmShape shape;
  private final Tiling tiling;
  private final int rows;
  private final int columns;
  private final int chunks;
  private final int chunk;
  private final long capacity;
  private final int atOnce;

  private final int[] younger;
  private final int[] older;
  private final int head;
  private long used;
  private double read;

  L2Model(GemmShape shape, Tiling tiling, DeviceModel device) {
    this.shape = shape;
    this.tiling = tiling;
    this.rows = Math.toIntExact(Math.ceilDiv(shape.m(), tiling.m()));
    this.columns = Math.toIntExact(Math.ceilDiv(shape.n(), tiling.n()));
    this.atOnce = tiling.atOnce(device);
    this.capacity = (long) (USED_PART * device.l2Bytes());
    long most = Math.max(1, MOST_ACCESSES / (2L * rows * columns));
    this.chunk = (int) Math.max(CHUNK, Math.ceilDiv(shape.k(), most));
    this.chunks = Math.toIntExact(Math.ceilDiv(shape.k(), chunk));
    int blocks = (rows + columns) * chunks + rows * columns;
    younger = new int[blocks + 1];
    older = new int[blocks + 1];
    Arrays.fill(younger, -1);
    head = blocks;
    younger[head] = head;
    older[head] = head;
  }

  /** Bytes that device memory delivers in an order. */
  double readBytes(BlockOrder order) {
    List<Tile> tiles = order.tiles(rows, columns);
    double drift = (tiling.persistent() ? DRIFT_PERSISTENT : DRIFT) * chunks;
    int[] delay = new int[Math.min(atOnce, tiles.size())];
    for (int unit = 0; unit < delay.length; unit++) {
      delay[unit] = (int) (drift * (unit * GOLDEN % 1));
    }
    int waves = Math.ceilDiv(tiles.size(), atOnce);
    for (int time = 0; time < waves * chunks + (int) drift + 1; time++) {
      for (int unit = 0; unit < delay.length; unit++) {
        int own = time - delay[unit];
        int index = own < 0 ? -1 : own / chunks * atOnce + unit;
        if (index >= 0 && index < tiles.size()) {
          step(tiles.get(index), own % chunks);
        }
      }
    }
    return read;
  }

  private void step(Tile tile, int k) {
    long depth = Math.min(chunk, shape.k() - (long) k * chunk);
    long height = Math.min(tiling.m(), shape.m() - (long) tile.m() * tiling.m());
    long width = Math.min(tiling.n(), shape.n() - (long) tile.n() * tiling.n());
    int bytes = shape.type().operand().bytes();
    use(tile.m() * chunks + k, height * depth * bytes, true);
    use((rows + tile.n()) * chunks + k, width * depth * bytes, true);
    if (k == chunks - 1) {
      int result = (rows + columns) * chunks + tile.m() * columns + tile.n();
      use(result, height * width * shape.type().resultBytes(), false);
    }
  }

  private void use(int block, long bytes, boolean reads) {
    if (younger[block] >= 0) {
      unlink(block);
    } else {
      used += bytes;
      if (reads) {
        read += bytes;
      }
    }
    int last = older[head];
    younger[last] = block;
    older[block] = last;
    younger[block] = head;
    older[head] = block;
    while (used > capacity) {
      int victim = younger[head];
      unlink(victim);
      younger[victim] = -1;
      used -= size(victim);
    }
  }

  private void unlink(int block) {
    younger[older[block]] = younger[block];
    older[younger[block]] = older[block];
  }

  private long size(int block) {
    int operands = (rows + columns) * chunks;
    if (block >= operands) {
      int tile = block - operands;
      long height = Math.min(tiling.m(), shape.m() - (long) (tile / columns) * tiling.m());
      long width = Math.min(tiling.n(), shape.n() - (long) (tile % columns) * tiling.n());
      return height * width * shape.type().resultBytes();
    }
    int line = block / chunks;
    long depth = Math.min(chunk, shape.k() - (long) (block % chunks) * chunk);
    long extent =
        line < rows
            ? Math.min(tiling.m(), shape.m() - (long) line * tiling.m())
            : Math.min(tiling.n(), shape.n() - (long) (line - rows) * tiling.n());
    return extent * depth * shape.type().operand().bytes();
  }
}
