package dev.warpwright.lower.host;

/**
 * What lowering needs to know about a CPU.
 *
 * @param vectorBits width of its vectors: 128, 256 or 512
 * @param cores threads that run at the same time, at least 1
 */
public record HostTarget(int vectorBits, int cores) {
  public HostTarget {
    if (vectorBits != 128 && vectorBits != 256 && vectorBits != 512) {
      throw new IllegalArgumentException("vectors of " + vectorBits + " bits: 128, 256 or 512");
    }
    if (cores < 1) {
      throw new IllegalArgumentException("a machine has at least one core, not " + cores);
    }
  }

  /** Lanes of an f32 vector. */
  public int lanes() {
    return vectorBits / 32;
  }

  /** Vector registers that the machine has. */
  int registers() {
    return vectorBits == 512 ? 32 : 16;
  }
}
