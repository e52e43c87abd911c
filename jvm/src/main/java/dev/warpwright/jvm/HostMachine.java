package dev.warpwright.jvm;

import dev.warpwright.target.HostTarget;
import jdk.incubator.vector.FloatVector;

/** The machine that this JVM runs on, as the JVM sees it. */
public final class HostMachine {
  private static final String VECTORS = "jdk.incubator.vector";

  private HostMachine() {}

  /**
   * Its cores, and the vector width that the JVM prefers. A JVM that was started without {@code
   * --add-modules jdk.incubator.vector} has none, and kernels are many times slower.
   */
  public static HostTarget target() {
    int cores = Runtime.getRuntime().availableProcessors();
    return ModuleLayer.boot().findModule(VECTORS).isPresent()
        ? new HostTarget(preferredBits(), cores)
        : new HostTarget(HostTarget.SCALAR, cores);
  }

  private static int preferredBits() {
    return FloatVector.SPECIES_PREFERRED.vectorBitSize();
  }
}
