package dev.warpwright.sim.expr;

/** Computes an operand of an intrinsic for some lanes: an address in bytes, or bits of a value. */
public interface OperandCode {
  /**
   * Computes it.
   *
   * @param values receives addresses in bytes from the beginning of the buffer, or values
   * @return the lanes whose address is outside
   */
  int compute(Frame[] frames, int mask, long[] values);
}
