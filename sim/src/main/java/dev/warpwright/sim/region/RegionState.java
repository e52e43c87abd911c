package dev.warpwright.sim.region;

import dev.warpwright.sim.finding.Suspicion;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * What compiled regions (see {@link RegionEmitter}) of one block at a time work on, and what they
 * call. Checks here are on the safe side: what merely may be wrong is {@link Suspicion}, and then
 * the {@code GridInterpreter} executes everything again and says what it is.
 */
final class RegionState {
  /** An integer that nobody wrote. */
  static final int POISON = 0xCDCD_CDCD;

  /**
   * Of a shared element's state: who accessed it, in the low bits; the region, in the high ones.
   */
  static final int EPOCH_SHIFT = 12;

  /** Read by several threads. */
  static final int MANY = 0x800;

  private static final int WRITTEN = 1;
  private static final int LAST_EPOCH = (1 << 31 - EPOCH_SHIFT) - 2;
  private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(int[].class);

  /** Storage of global buffers. */
  final byte[][] globals;

  /** Who wrote each element of a global buffer that is written, null for the others. */
  final int[][] touched;

  final int[] scalars;

  /** Shared and local buffers of floats; of a local one, an array for each thread. */
  final float[][][] floats;

  /** Shared and local buffers of integers. */
  final int[][][] ints;

  /** States of elements of shared buffers. */
  final int[][] shared;

  /** The number of the present region, for {@link #shared}. */
  int epoch = 1;

  /** Number of the block, times the greatest number of threads. */
  int block;

  RegionState(byte[][] globals, int[][] touched, int[] scalars, RegionPlan plan) {
    this.globals = globals;
    this.touched = touched;
    this.scalars = scalars;
    int buffers = plan.buffers().size();
    floats = new float[buffers][][];
    ints = new int[buffers][][];
    shared = new int[buffers][];
    for (int i = 0; i < buffers; i++) {
      RegionPlan.Storage storage = plan.buffers().get(i);
      int copies = storage.perThread() ? plan.threads() : 1;
      if (storage.isFloat()) {
        floats[i] = new float[copies][storage.elements()];
      } else {
        ints[i] = new int[copies][storage.elements()];
      }
      if (storage.isShared()) {
        shared[i] = new int[storage.elements()];
      }
    }
  }

  /** Before a block starts. */
  void begin(int number) {
    block = number << 10;
    nextRegion();
    for (int i = 0; i < shared.length; i++) {
      if (shared[i] != null) {
        poison(i);
      }
    }
  }

  /** All threads have met. */
  void nextRegion() {
    if (++epoch >= LAST_EPOCH) {
      epoch = 1;
      for (int[] states : shared) {
        if (states != null) {
          Arrays.fill(states, 0);
        }
      }
    }
  }

  /** Forgets what a buffer holds. */
  void poison(int buffer) {
    if (floats[buffer] != null) {
      for (float[] copy : floats[buffer]) {
        Arrays.fill(copy, Float.NaN);
      }
    } else {
      for (int[] copy : ints[buffer]) {
        Arrays.fill(copy, POISON);
      }
    }
  }

  static void poison(float[] buffer) {
    Arrays.fill(buffer, Float.NaN);
  }

  static void poison(int[] buffer) {
    Arrays.fill(buffer, POISON);
  }

  /**
   * A thread reads a shared element.
   *
   * @param me the thread in this region
   */
  static void read(int[] states, int element, int me) {
    int state = states[element];
    if ((state ^ me) >>> EPOCH_SHIFT != 0) {
      states[element] = me;
    } else if (state != me && state != (me | WRITTEN)) {
      if ((state & WRITTEN) != 0) {
        throw Suspicion.raise();
      }
      states[element] = me >>> EPOCH_SHIFT << EPOCH_SHIFT | MANY;
    }
  }

  /** A thread writes a shared element. */
  static void write(int[] states, int element, int me) {
    int state = states[element];
    if ((state ^ me) >>> EPOCH_SHIFT == 0 && state != me && state != (me | WRITTEN)) {
      throw Suspicion.raise();
    }
    states[element] = me | WRITTEN;
  }

  /** A thread accesses an element of a global buffer that is written: no other thread may. */
  static void touch(int[] owners, int element, int owner) {
    int before = (int) ELEMENT.getAndSet(owners, element, owner);
    if (before != 0 && before != owner) {
      throw Suspicion.raise();
    }
  }

  /** An offset of a vector, which must be a multiple. */
  static int aligned(int offset, int elements) {
    if ((offset & elements - 1) != 0) {
      throw Suspicion.raise();
    }
    return offset;
  }

  /** A value read from memory of the chip, where no element that nobody wrote may be read. */
  static float known(float value) {
    if (Float.isNaN(value)) {
      throw Suspicion.raise();
    }
    return value;
  }

  /** As above. */
  static int known(int value) {
    if (value == POISON) {
      throw Suspicion.raise();
    }
    return value;
  }
}
