package dev.warpwright.sim.expr;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Var;
import java.util.IdentityHashMap;
import java.util.Map;

/** Gives each variable and buffer of a function its slot in a {@link Frame}. */
public final class Symbols {
  /** Widest vector. */
  static final int MAX_LANES = 256;

  private final Map<Object, Integer> slots = new IdentityHashMap<>();
  private int ints;
  private int reals;
  private int buffers;
  private int scratches;

  /** First slot of a variable's value, one slot for each lane. */
  public int slot(Var v) {
    return slots.computeIfAbsent(v, key -> newSlots(v));
  }

  private int newSlots(Var v) {
    int lanes = v.type().lanes();
    if (v.type().dtype().isFloat()) {
      reals += lanes;
      return reals - lanes;
    }
    ints += lanes;
    return ints - lanes;
  }

  public boolean knows(Object variableOrBuffer) {
    return slots.containsKey(variableOrBuffer);
  }

  public int slot(Buffer b) {
    return slots.computeIfAbsent(b, key -> buffers++);
  }

  /** A new slot of {@link Frame#scratch}. */
  public int newScratch() {
    return scratches++;
  }

  int scratchSlots() {
    return scratches;
  }

  int intSlots() {
    return ints;
  }

  int realSlots() {
    return reals;
  }

  public int bufferSlots() {
    return buffers;
  }
}
