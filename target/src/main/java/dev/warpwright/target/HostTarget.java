package dev.warpwright.target;

/**
 * A processor that runs the JVM.
 *
 * @param vectorBits width of its vector registers: 128, 256 or 512; {@link #SCALAR} for none
 * @param cores cores that may work at the same time
 */
public record HostTarget(int vectorBits, int cores) implements Target {
  /** The vector width where vectors cannot be used: that of one f32. */
  public static final int SCALAR = 32;

  /** Checks the width and the cores. */
  public HostTarget {
    if (Integer.bitCount(vectorBits) != 1 || vectorBits < SCALAR || cores < 1) {
      throw new IllegalArgumentException(vectorBits + "-bit vectors on " + cores + " cores");
    }
  }

  /** {@return whether it has vectors at all} */
  public boolean hasVectors() {
    return vectorBits > SCALAR;
  }

  /**
   * {@return this machine} The vector width is the one that every x86-64 with AVX2 has; the JVM
   * back end, which can ask the machine, refines it.
   */
  public static HostTarget current() {
    int bits = System.getProperty("os.arch").equals("aarch64") ? 128 : 256;
    return new HostTarget(bits, Runtime.getRuntime().availableProcessors());
  }

  @Override
  public String name() {
    return "cpu";
  }
}
