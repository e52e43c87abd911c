package dev.warpwright.families.wgmma;

import static dev.warpwright.families.TileGrid.together;
import static dev.warpwright.families.wgmma.HopperNumber.BATCH;
import static dev.warpwright.families.wgmma.HopperNumber.COPIED_ACROSS;
import static dev.warpwright.families.wgmma.HopperNumber.COPY;
import static dev.warpwright.families.wgmma.HopperNumber.COPY_LATENCY;
import static dev.warpwright.families.wgmma.HopperNumber.FIRST_LEVEL;
import static dev.warpwright.families.wgmma.HopperNumber.LOADED;
import static dev.warpwright.families.wgmma.HopperNumber.SHARP;
import static dev.warpwright.families.wgmma.HopperNumber.SHIFTED;
import static dev.warpwright.families.wgmma.HopperNumber.TRANSPOSED;

import dev.warpwright.families.ThreadCopies;
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
    double shared = c.minBlocks() * (HopperLimits.sharedBytes(w, c) + 1024.0) / 1024;
    double left = FIRST_LEVEL_KB - SHARED_KB[SHARED_KB.length - 1];
    for (int kb : SHARED_KB) {
      if (shared <= kb) {
        left = FIRST_LEVEL_KB - kb;
        break;
      }
    }
    int ahead = Math.min(MOST_AHEAD, c.stages() - FREE_STAGES);
    return together(
        at(SHARP),
        copies.instructions() * at(COPY) * longer * sharing,
        at(COPY_LATENCY) / (ahead + 1),
        copies.lines() * sharing / (left * 1024) * at(FIRST_LEVEL));
  }

  /** Whether threads copy an MN-major operand whose rows begin anywhere. */
  private static boolean copiesAcross(GemmWorkload w) {
    long bytes = w.operands().bytes();
    return w.layout().transposedA() && w.lda() * bytes % ThreadCopies.CHUNK != 0
        || !w.layout().transposedB() && w.ldb() * bytes % ThreadCopies.CHUNK != 0;
  }

  /**
   * Microseconds that a step takes at least whose tiles threads transpose: they have loads of one
   * step under way. 0 where none do.
   */
  double loading(GemmWorkload w, HopperConfig c) {
    return HopperLimits.transposes(w, c) ? at(LOADED) : 0;
  }

  /**
   * Microseconds by which a step is longer whose tiles threads transpose: as measured, that adds to
   * its products, which read the same shared memory; 0 where none do.
   */
  double transposing(GemmWorkload w, HopperConfig c, double sharing) {
    if (!HopperLimits.transposes(w, c)) {
      return 0;
    }
    boolean heldA = c.held() && !c.swapAb();
    boolean heldB = c.held() && c.swapAb();
    int ofA = w.layout().transposedA() && !heldA ? c.tileM() : 0;
    int ofB = w.layout().transposedB() || heldB ? 0 : c.tileN();
    TransposedTile a = TransposedTile.of(ofA, w.lda(), w, c);
    TransposedTile b = TransposedTile.of(ofB, w.ldb(), w, c);
    int registers = HopperLimits.copyingRegisters(w, c);
    double instructions = (a.instructions() + b.instructions()) * at(TRANSPOSED) * sharing;
    // Loaded a step ahead, nothing is waited for.
    return TransposedCopy.fit(a.registers() + b.registers(), registers)
        ? instructions
        : (a.batches(registers) + b.batches(registers)) * at(BATCH) + instructions;
  }
}
