package dev.warpwright.target.intrinsic;

/**
 * The threads that execute one call of an intrinsic together (one thread, a warp or a warpgroup),
 * as its meaning sees them. An executor implements this over its own memory; bounds, alignment and
 * initialisation are checked there.
 */
public interface Lanes {
  /** {@return number of lanes: 1, 32 or 128} */
  int count();

  /**
   * {@return whether the lane takes part}
   *
   * @param lane from 0
   */
  boolean active(int lane);

  /**
   * {@return the 4 bytes at the lane's address operand plus an offset in bytes, in its buffer's
   * storage order}
   *
   * @param operand its number, from 0, of an address
   * @param lane from 0
   * @param byteOffset from the element that is pointed to
   */
  int load32(int operand, int lane, int byteOffset);

  /**
   * Stores 4 bytes; see {@link #load32}.
   *
   * @param operand its number, from 0, of an address
   * @param lane from 0
   * @param byteOffset from the element that is pointed to
   * @param bits that are stored
   */
  void store32(int operand, int lane, int byteOffset, int bits);

  /**
   * Loads neighbouring words of 4 bytes from the lane's address on; see {@link #load32}.
   *
   * @param operand its number, from 0, of an address
   * @param lane from 0
   * @param words are overwritten
   */
  default void load(int operand, int lane, int[] words) {
    for (int i = 0; i < words.length; i++) {
      words[i] = load32(operand, lane, 4 * i);
    }
  }

  /**
   * Stores neighbouring words of 4 bytes from the lane's address on; see {@link #load32}.
   *
   * @param operand its number, from 0, of an address
   * @param lane from 0
   * @param words that are stored
   */
  default void store(int operand, int lane, int[] words) {
    for (int i = 0; i < words.length; i++) {
      store32(operand, lane, 4 * i, words[i]);
    }
  }

  /**
   * {@return the lane's integer value operand; for a float operand its bits}
   *
   * @param operand its number, from 0, of a value
   * @param lane from 0
   */
  long value(int operand, int lane);

  /**
   * Sets the lane's result, for a float its bits.
   *
   * @param lane from 0
   * @param bits of the result's type
   */
  void result(int lane, long bits);
}
