package dev.warpwright.families.wgmma;

import static dev.warpwright.families.TileGrid.together;
import static dev.warpwright.families.wgmma.HopperNumber.BATCH;
import static dev.warpwright.families.wgmma.HopperNumber.BATCH_FIRST;
import static dev.warpwright.families.wgmma.HopperNumber.COPIED_ACROSS;
import static dev.warpwright.families.wgmma.HopperNumber.COPY;
import static dev.warpwright.families.wgmma.HopperNumber.COPY_LATENCY;
import static dev.warpwright.families.wgmma.HopperNumber.FIRST_LEVEL;
import static dev.warpwright.families.wgmma.HopperNumber.LOADED;
import static dev.warpwright.families.wgmma.HopperNumber.LOADED_BYTES;
import static dev.warpwright.families.wgmma.HopperNumber.SHARP;
import static dev.warpwright.families.wgmma.HopperNumber.SHIFTED;
import static dev.warpwright.families.wgmma.HopperNumber.TRANSPOSED;

import dev.warpwright.families.ThreadCopies;
import dev.warpwright.families.TileGrid;
import dev.warpwright.lower.copy.TransposedCopy;
import dev.warpwright.target.Calibration;
import dev.warpwright.workload.GemmWorkload;

/** The part of {@link HopperModel} for tiles that threads bring, whose rows no TMA copy takes. */
final class HopperCopies {
  /** Steps for which copies are under way, at most; stages that they leave free. */
  private static final int MOST_AHEAD = 5;

  private static final int FREE_STAGES = 2;

  /** Bytes of an L1 and shared memory together, and what shared memory may be. */
  private static final int FIRST_LEVEL_KB = 256;

  private static final int[] SHARED_KB = {8, 16, 32, 64, 100, 132, 164, 196, 228};

  private final Calibration.Numbers<HopperNumber> fitted;

  HopperCopies(Calibration.Numbers<HopperNumber> fitted) {
    this.fitted = fitted;
  }

  private double at(HopperNumber number) {
    return fitted.at(number);
  }

  /**
   * Microseconds in which producers' threads copy a step's tiles as they are; 0 where TMA copies
   * do, or threads transpose them.
   */
  double copying(GemmWorkload w, HopperConfig c, double sharing) {
    if (ThreadCopies.isTma(w) || HopperLimits.transposes(w, c)) {
      return 0;
    }
    ThreadCopies copies =
        ThreadCopies.of(
            w,
            c.tileM(),
            c.tileN(),
            c.tileK(),
            HopperModel.WARPGROUP,
            c.vectors(),
            HopperLimits.copyingRegisters(w, c));
    double longer = copiesAcross(w) ? at(COPIED_ACROSS) : 1;
    if (copies.small() > 0) {
      return copies.batches() * at(BATCH) * longer * (c.vectors() ? at(SHIFTED) : 1);
    }
    int ahead = Math.min(MOST_AHEAD, c.stages() - FREE_STAGES);
    return together(
        at(SHARP),
        copies.instructions() * at(COPY) * longer * sharing,
        at(COPY_LATENCY) / (ahead + 1),
        copies.lines() * sharing / firstLevel(w, c) * at(FIRST_LEVEL));
  }

  /** Bytes that blocks leave to an SM's L1. */
  private static double firstLevel(GemmWorkload w, HopperConfig c) {
    double shared = c.minBlocks() * (HopperLimits.sharedBytes(w, c) + 1024.0) / 1024;
    for (int kb : SHARED_KB) {
      if (shared <= kb) {
        return (FIRST_LEVEL_KB - kb) * 1024.0;
      }
    }
    return (FIRST_LEVEL_KB - SHARED_KB[SHARED_KB.length - 1]) * 1024.0;
  }

  /** Whether threads copy an MN-major operand whose rows begin anywhere. */
  private static boolean copiesAcross(GemmWorkload w) {
    long bytes = w.operands().bytes();
    return w.layout().transposedA() && w.lda() * bytes % ThreadCopies.CHUNK != 0
        || !w.layout().transposedB() && w.ldb() * bytes % ThreadCopies.CHUNK != 0;
  }

  /**
   * Microseconds that a step takes at least whose tiles threads transpose: they have loads of one
   * step under way, which take longer where no block has read them before. 0 where none do.
   */
  double loading(GemmWorkload w, HopperConfig c, double sharing) {
    if (!HopperLimits.transposes(w, c)) {
      return 0;
    }
    double rows = first(w, c) * (ofA(w, c) + ofB(w, c));
    // Zeros beside them are as slow.
    rows += ofA(w, c) == 0 ? Math.max(0, c.tileM() - w.m()) : 0;
    rows += ofB(w, c) == 0 ? Math.max(0, c.tileN() - w.n()) : 0;
    return at(LOADED) + rows * c.tileK() * w.operands().bytes() * sharing / at(LOADED_BYTES);
  }

  /** The share of what threads transpose that no block has read before. */
  private static double first(GemmWorkload w, HopperConfig c) {
    return Math.max(
        ofA(w, c) > 0 ? 1.0 / Math.ceilDiv(w.n(), c.tileN()) : 0,
        ofB(w, c) > 0 ? 1.0 / Math.ceilDiv(w.m(), c.tileM()) : 0);
  }

  /** Rows of A in a tile that threads transpose. */
  private static int ofA(GemmWorkload w, HopperConfig c) {
    return w.layout().transposedA() && !(c.held() && !c.swapAb()) ? c.tileM() : 0;
  }

  /** Columns of B in a tile that threads transpose. */
  private static int ofB(GemmWorkload w, HopperConfig c) {
    return w.layout().transposedB() || c.held() && c.swapAb() ? 0 : c.tileN();
  }

  /**
   * Microseconds by which a step is longer whose tiles threads transpose: as measured, that adds to
   * its products, which read the same shared memory; 0 where none do.
   */
  double transposing(GemmWorkload w, HopperConfig c, double sharing) {
    if (!HopperLimits.transposes(w, c)) {
      return 0;
    }
    TransposedTile a = TransposedTile.of(ofA(w, c), w.lda(), w, c);
    TransposedTile b = TransposedTile.of(ofB(w, c), w.ldb(), w, c);
    int registers = HopperLimits.copyingRegisters(w, c);
    double lines = c.tileK() * (lines(ofA(w, c), w) + lines(ofB(w, c), w));
    double instructions =
        (a.instructions() + b.instructions()) * at(TRANSPOSED) * sharing
            + lines * TileGrid.LINE * sharing / firstLevel(w, c) * at(FIRST_LEVEL);
    // Loaded a step ahead, nothing is waited for.
    return TransposedCopy.fit(a.registers() + b.registers(), registers)
        ? instructions
        : (a.batches(registers) + b.batches(registers))
                * (at(BATCH) + first(w, c) * at(BATCH_FIRST))
            + instructions;
  }

  /**
   * Lines of a row of so many bytes of a tile that are read once more unless L1 keeps them; as
   * measured, none of those that are read whole, nor of larger elements.
   */
  private static double lines(int elements, GemmWorkload w) {
    double bytes = (double) elements * w.operands().bytes();
    return w.operands().bytes() > 1 || bytes % TileGrid.LINE == 0
        ? 0
        : (bytes + TileGrid.LINE - ThreadCopies.CHUNK) / TileGrid.LINE;
  }
}
