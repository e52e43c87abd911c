package dev.warpwright.jvm;

import org.jspecify.annotations.Nullable;

/**
 * Scratch arrays of one thread for one compiled kernel, kept between calls. Their contents are
 * whatever was left there.
 */
final class Scratch {
  private final @Nullable Object[] arrays;

  Scratch(int slots) {
    arrays = new Object[slots];
  }

  float[] floats(int slot, int size) {
    if (arrays[slot] instanceof float[] a && a.length >= size) {
      return a;
    }
    float[] a = new float[size];
    arrays[slot] = a;
    return a;
  }

  double[] doubles(int slot, int size) {
    if (arrays[slot] instanceof double[] a && a.length >= size) {
      return a;
    }
    double[] a = new double[size];
    arrays[slot] = a;
    return a;
  }

  byte[] bytes(int slot, int size) {
    if (arrays[slot] instanceof byte[] a && a.length >= size) {
      return a;
    }
    byte[] a = new byte[size];
    arrays[slot] = a;
    return a;
  }

  short[] shorts(int slot, int size) {
    if (arrays[slot] instanceof short[] a && a.length >= size) {
      return a;
    }
    short[] a = new short[size];
    arrays[slot] = a;
    return a;
  }

  int[] ints(int slot, int size) {
    if (arrays[slot] instanceof int[] a && a.length >= size) {
      return a;
    }
    int[] a = new int[size];
    arrays[slot] = a;
    return a;
  }

  long[] longs(int slot, int size) {
    if (arrays[slot] instanceof long[] a && a.length >= size) {
      return a;
    }
    long[] a = new long[size];
    arrays[slot] = a;
    return a;
  }
}
