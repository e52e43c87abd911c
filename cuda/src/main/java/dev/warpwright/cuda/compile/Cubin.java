package dev.warpwright.cuda.compile;

import java.util.List;
import java.util.Optional;

/** Machine code for one architecture, and what its compiler said about it. */
public final class Cubin {
  private final byte[] bytes;
  private final String log;
  private final List<ResourceUsage> usage;

  /**
   * @param bytes an ELF image, as {@code cuModuleLoadData} takes it
   * @param log what the compiler printed, possibly nothing
   */
  public Cubin(byte[] bytes, String log) {
    this.bytes = bytes.clone();
    this.log = log;
    this.usage = PtxasLog.parse(log);
  }

  /** A copy of the image. */
  public byte[] bytes() {
    return bytes.clone();
  }

  public int size() {
    return bytes.length;
  }

  public String log() {
    return log;
  }

  /** What each kernel uses; empty if the compiler did not report it. */
  public List<ResourceUsage> usage() {
    return usage;
  }

  /** What one kernel uses; empty if the compiler did not report it. */
  public Optional<ResourceUsage> usage(String kernel) {
    return usage.stream().filter(use -> use.kernel().equals(kernel)).findFirst();
  }

  /** The lines of the log that warn. */
  public List<String> warnings() {
    return PtxasLog.warnings(log);
  }

  @Override
  public String toString() {
    return "Cubin[" + bytes.length + " bytes, " + usage + "]";
  }
}
