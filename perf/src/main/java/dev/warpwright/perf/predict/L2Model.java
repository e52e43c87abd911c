package dev.warpwright.perf.predict;

import static dev.warpwright.perf.predict.L2Number.ACROSS;
import static dev.warpwright.perf.predict.L2Number.DRIFT;
import static dev.warpwright.perf.predict.L2Number.DRIFT_PERSISTENT;
import static dev.warpwright.perf.predict.L2Number.LONGEST;

import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.BlockOrder.Tile;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.target.Calibration;
import dev.warpwright.target.DeviceModel;
import java.util.Arrays;
import java.util.List;

/**
 * Which bytes of a product come from device memory: all tiles that run at a time read their
 * operands along K in step, through an L2 that gives up what was used longest ago.
 *
 * <p>Two numbers are fitted to counters of an H200. Half of the cache counts, and a little more: it
 * has two parts, and each keeps its own copy of what its SMs read. And blocks drift apart: by up to
 * a fifth of a tile where a block ends with its tile, half as much where blocks stay; but no
 * further than in the longest tiles that were measured, since who is behind finds in the cache what
 * others fetched, and catches up.
 *
 * <p>Where K is long, no tile finds anything of the one before it, so that each step along K costs
 * as much as the others: only a part is played, and the whole is as many times more.
 */
final class L2Model {
  /** Spreads SMs over the halves: their numbers do not tell which half is near. */
  private static final int SPREAD = 0x9E3779B9;

  /** Elements along K that are one access; if they were more, fewer tiles would share them. */
  private static final int CHUNK = 256;

  private static final long FEWEST_CHUNKS = 16;

  private static final long MOST_ACCESSES = 1 << 20;

  private static final double GOLDEN = 0.6180339887498949;

  private final GemmShape shape;
  private final Tiling tiling;
  private final int rows;
  private final int columns;
  private final int chunks;

  /** What is played of K. */
  private final long played;

  private final long capacity;
  private final int atOnce;

  private final int[] younger;
  private final int[] older;
  private final int head;
  private long used;
  private double read;

  /** The halves of the cache that have a block, by bits. */
  private final byte[] halves;

  /** First reads of each half. */
  private double missed;

  private final Calibration.Numbers<L2Number> fitted;

  L2Model(GemmShape shape, Tiling tiling, DeviceModel device) {
    this.fitted = L2Number.of(device);
    this.shape = shape;
    this.tiling = tiling;
    this.rows = Math.toIntExact(Math.ceilDiv(shape.m(), tiling.m()));
    this.columns = Math.toIntExact(Math.ceilDiv(shape.n(), tiling.n()));
    this.atOnce = tiling.atOnce(device);
    this.capacity = L2Number.capacity(device);
    long most = Math.max(1, MOST_ACCESSES / (2L * rows * columns));
    this.played = Math.min(shape.k(), CHUNK * Math.max(most, FEWEST_CHUNKS));
    this.chunks = Math.toIntExact(Math.ceilDiv(played, CHUNK));
    int blocks = (rows + columns) * chunks + rows * columns;
    halves = new byte[blocks];
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
    double drift =
        (tiling.persistent() ? fitted.at(DRIFT_PERSISTENT) : fitted.at(DRIFT))
            * Math.min(chunks, fitted.at(LONGEST) / CHUNK);
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
          step(tiles.get(index), own % chunks, unit * SPREAD >>> 31);
        }
      }
    }
    return read * shape.k() / played;
  }

  /** Bytes that SMs did not find in their half of the cache, after {@link #readBytes}. */
  double missedBytes() {
    return (read + fitted.at(ACROSS) * (missed - read)) * shape.k() / played;
  }

  private void step(Tile tile, int k, int half) {
    long depth = Math.min(CHUNK, played - (long) k * CHUNK);
    long height = Math.min(tiling.m(), shape.m() - (long) tile.m() * tiling.m());
    long width = Math.min(tiling.n(), shape.n() - (long) tile.n() * tiling.n());
    int bytes = shape.type().operand().bytes();
    use(tile.m() * chunks + k, height * depth * bytes, true, half);
    use((rows + tile.n()) * chunks + k, width * depth * bytes, true, half);
    if (k == chunks - 1) {
      int result = (rows + columns) * chunks + tile.m() * columns + tile.n();
      use(result, height * width * shape.type().resultBytes(), false, half);
    }
  }

  private void use(int block, long bytes, boolean reads, int half) {
    if (younger[block] >= 0) {
      unlink(block);
    } else {
      used += bytes;
      halves[block] = 0;
      if (reads) {
        read += bytes;
      }
    }
    if ((halves[block] >> half & 1) == 0) {
      halves[block] |= (byte) (1 << half);
      missed += reads ? bytes : 0;
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
    long depth = Math.min(CHUNK, played - (long) (block % chunks) * CHUNK);
    long extent =
        line < rows
            ? Math.min(tiling.m(), shape.m() - (long) line * tiling.m())
            : Math.min(tiling.n(), shape.n() - (long) (line - rows) * tiling.n());
    return extent * depth * shape.type().operand().bytes();
  }
}
