package dev.warpwright.compiler.execute;

import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.CpuDevice;
import dev.warpwright.compiler.Warpwright;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.nio.file.Files;
import java.nio.file.Path;

/** Calls and models in numbers, and what of the process's memory is left in use after them. */
final class Growth {
  private static final int ROWS = 3;

  private final Path file;

  Growth(Path file) {
    this.file = file;
  }

  /**
   * Memory in use after a collection, in KiB.
   *
   * @param heap of objects
   * @param classes of the JVM's records of classes, those of kernels among them
   * @param loaded classes
   * @param resident pages of the process; 0 where the system does not tell
   */
  record Memory(long heap, long classes, long loaded, long resident) {}

  static Memory memory() {
    for (int i = 0; i < 4; i++) {
      System.gc();
    }
    long classes = 0;
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      if (pool.getName().equals("Metaspace")) {
        classes = pool.getUsage().getUsed() >> 10;
      }
    }
    return new Memory(
        ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() >> 10,
        classes,
        ManagementFactory.getClassLoadingMXBean().getLoadedClassCount(),
        resident());
  }

  /** Pages of this process, KiB; 0 where the system does not tell. */
  static long resident() {
    try {
      return Files.readAllLines(Path.of("/proc/self/status")).stream()
          .filter(line -> line.startsWith("VmRSS:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
          .findFirst()
          .orElse(0);
    } catch (IOException e) {
      if (Files.exists(Path.of("/proc/self"))) {
        throw new UncheckedIOException(e);
      }
      return 0;
    }
  }

  /** Calls one model, with new arrays and row counts that change. */
  void calls(int count) {
    try (CpuDevice device = new CpuDevice();
        CompiledModel model = Warpwright.load(file).compile(device)) {
      float[][] x = new float[ROWS][];
      for (int rows = 1; rows <= ROWS; rows++) {
        x[rows - 1] = new float[rows * model.inputFeatures()];
      }
      for (int i = 0; i < count; i++) {
        model.run(x[i % ROWS]);
      }
    }
  }

  /** Loads, compiles, calls and closes. */
  void models(int count) {
    try (CpuDevice device = new CpuDevice()) {
      for (int i = 0; i < count; i++) {
        try (CompiledModel model = Warpwright.load(file).compile(device)) {
          model.run(new float[model.inputFeatures()]);
        }
      }
    }
  }
}
