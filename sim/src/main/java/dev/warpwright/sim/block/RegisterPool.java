package dev.warpwright.sim.block;

import java.util.Arrays;

/** The registers of a block, which its warpgroups divide among themselves. */
public final class RegisterPool {
  private static final int REGISTERS = 65_536;
  private static final int MOST = 255;

  private final int entry;
  private final int[] registers;
  private int free;

  /**
   * @param minBlocks blocks that must fit on an SM, which fixes the registers at entry
   */
  public RegisterPool(int threads, int minBlocks, int warps) {
    entry = Math.min(MOST, REGISTERS / (threads * minBlocks) / 8 * 8);
    registers = new int[warps];
    Arrays.fill(registers, entry);
  }

  /** Registers of each thread at entry. */
  public int entry() {
    return entry;
  }

  /** Registers that each thread of the warp has. */
  public int of(int warp) {
    return registers[warp];
  }

  /** Whether a warp could have so many for each thread now. */
  public boolean suffices(int warp, int count) {
    return count - registers[warp] <= free;
  }

  public void set(int warp, int count) {
    free -= count - registers[warp];
    registers[warp] = count;
  }

  /** For messages. */
  public int free() {
    return free;
  }
}
