package dev.warpwright.runtime.cuda;

import java.util.Map;
import java.util.Random;

/** A group of the self-test's items, and what they share. */
abstract class SelfTestItems {
  final SelfTestBench bench;
  final CudaContext context;
  final CudaStream stream;
  final Random random;

  SelfTestItems(SelfTestBench bench) {
    this.bench = bench;
    this.context = bench.context();
    this.stream = bench.stream();
    this.random = bench.random();
  }

  /** One thing to try. */
  interface Item {
    /** Returns what to print behind PASS, or {@code SKIP} and why. */
    String run() throws Exception;
  }

  /** The items by name, in the order in which to run them. */
  abstract Map<String, Item> items();

  /** {@link SelfTestKernels#PLAIN}, loaded. */
  final CudaModule module() {
    return context.load(bench.plain().bytes());
  }

  final float[] randomFloats(int count) {
    float[] values = new float[count];
    synchronized (random) {
      for (int i = 0; i < count; i++) {
        values[i] = (float) random.nextGaussian();
      }
    }
    return values;
  }

  static void fails(Class<? extends Throwable> type, String message, Runnable action) {
    try {
      action.run();
    } catch (Throwable t) {
      if (type.isInstance(t)
          && t.getMessage().contains(message)
          && !t.getMessage().contains("\n")) {
        return;
      }
      throw new AssertionError("expected " + type.getSimpleName() + " with '" + message + "'", t);
    }
    throw new AssertionError("nothing thrown, expected '" + message + "'");
  }

  static void equal(Object expected, Object actual, String what) {
    if (!expected.equals(actual)) {
      throw new AssertionError(what + " is " + actual + ", expected " + expected);
    }
  }

  static void check(boolean condition, String what) {
    if (!condition) {
      throw new AssertionError(what);
    }
  }
}
