package dev.warpwright.ir;

/**
 * XORs bits of an element offset: bits {@code [base + shift, base + shift + bits)} into bits {@code
 * [base, base + bits)}. {@code (3, 4, 3)} on byte offsets is the 128-byte swizzle of bulk copies
 * and wgmma; on elements of 2 bytes it is {@code (3, 3, 3)}.
 *
 * @param bits how many bits, 0 for the identity
 * @param base lowest bit that changes
 * @param shift distance to the bits that are read, at least {@code bits}
 */
public record Swizzle(int bits, int base, int shift) {
  public static final Swizzle NONE = new Swizzle(0, 0, 0);

  public Swizzle {
    if (bits < 0 || base < 0 || shift < bits) {
      throw new IllegalArgumentException("swizzle <" + bits + "," + base + "," + shift + ">");
    }
  }

  public boolean isIdentity() {
    return bits == 0;
  }

  public long apply(long offset) {
    long mask = ((1L << bits) - 1) << (base + shift);
    return offset ^ ((offset & mask) >> shift);
  }
}
