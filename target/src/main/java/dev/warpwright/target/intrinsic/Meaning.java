package dev.warpwright.target.intrinsic;

/** What an intrinsic computes, in terms of its operands' values and memory. */
@FunctionalInterface
public interface Meaning {
  /**
   * Does for all lanes that take part what the instruction does.
   *
   * @param lanes with their operands and results
   */
  void execute(Lanes lanes);
}
