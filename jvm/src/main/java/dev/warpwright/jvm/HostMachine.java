package dev.warpwright.jvm;

import dev.warpwright.target.HostTarget;
import java.util.concurrent.atomic.AtomicBoolean;
import jdk.incubator.vector.FloatVector;

/** The machine that this JVM runs on, as the JVM sees it. */
public final class HostMachine {
  private static final String VECTORS = "jdk.incubator.vector";

  private static final AtomicBoolean WARNED = new AtomicBoolean();

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

  /**
   * {@link #target()}, for kernels that will run. If it has no vectors, that is said once in a
   * process, by the {@link System.Logger} of the name {@code dev.warpwright}: what is only slow
   * would not be noticed.
   */
  public static HostTarget targetToRunOn() {
    HostTarget target = target();
    if (!target.hasVectors() && WARNED.compareAndSet(false, true)) {
      System.getLogger("dev.warpwright")
          .log(
              System.Logger.Level.WARNING,
              "kernels on the CPU are 3 to 20 times slower, for this JVM was started without "
                  + VECTORS
                  + "; add --add-modules "
                  + VECTORS
                  + " to the options of java, or set JDK_JAVA_OPTIONS=--add-modules="
                  + VECTORS);
    }
    return target;
  }

  private static int preferredBits() {
    return FloatVector.SPECIES_PREFERRED.vectorBitSize();
  }
}
