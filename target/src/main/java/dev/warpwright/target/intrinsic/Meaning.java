package dev.warpwright.target.intrinsic;

/** What an intrinsic computes, in terms of its operands' values and memory. */
@FunctionalInterface
public interface Meaning {
  void execute(Lanes lanes);
}
