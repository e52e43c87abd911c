package dev.warpwright.target.intrinsic;

/**
 * The threads that execute one call of an intrinsic together (one thread, a warp or a warpgroup),
 * as its meaning sees them. An executor implements this over its own memory; bounds, alignment and
 * initialisation are checked there.
 */
public interface Lanes {
  /** Number of lanes: 1, 32 or 128. */
  int count();

  /** Whether the lane takes part. */
  boolean active(int lane);

  /**
   * The 4 bytes at the lane's address operand plus an offset in bytes, in its buffer's storage
   * order.
   */
  int load32(int operand, int lane, int byteOffset);

  /** Stores 4 bytes; see {@link #load32}. */
  void store32(int operand, int lane, int byteOffset, int bits);

  /** The lane's integer value operand; for a float operand its bits. */
  long value(int operand, int lane);

  /** Sets the lane's result, for a float its bits. */
  void result(int lane, long bits);
}
