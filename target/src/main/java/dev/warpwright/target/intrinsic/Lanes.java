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

  /** Loads neighbouring words of 4 bytes from the lane's address on; see {@link #load32}. */
  default void load(int operand, int lane, int[] words) {
    for (int i = 0; i < words.length; i++) {
      words[i] = load32(operand, lane, 4 * i);
    }
  }

  /** Stores neighbouring words of 4 bytes from the lane's address on; see {@link #load32}. */
  default void store(int operand, int lane, int[] words) {
    for (int i = 0; i < words.length; i++) {
      store32(operand, lane, 4 * i, words[i]);
    }
  }

  /** The lane's integer value operand; for a float operand its bits. */
  long value(int operand, int lane);

  /** Sets the lane's result, for a float its bits. */
  void result(int lane, long bits);
}
