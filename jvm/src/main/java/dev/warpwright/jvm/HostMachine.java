package dev.warpwright.jvm;

import dev.warpwright.target.HostTarget;
import jdk.incubator.vector.FloatVector;

/** The machine that this JVM runs on, as the JVM sees it. */
public final class HostMachine {
  private HostMachine() {}

  /** Its cores, and the vector width that the JVM prefers. */
  public static HostTarget target() {
    return new HostTarget(
        FloatVector.SPECIES_PREFERRED.vectorBitSize(), Runtime.getRuntime().availableProcessors());
  }
}
