package dev.warpwright.cuda.compile;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/** Machine code for one architecture, and what its compiler said about it. */
public final class Cubin {
  /** The first four bytes of an ELF file, the lowest first. */
  private static final int ELF = 0x464C_457F;

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

  /**
   * Bytes of a kernel's instructions; 0 if the image has no such kernel. Read from the table of
   * sections of an ELF file of 64 bits.
   */
  public long codeBytes(String kernel) {
    ByteBuffer elf = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    if (bytes.length < 64 || elf.getInt(0) != ELF) {
      return 0;
    }
    long table = elf.getLong(0x28);
    int entry = Short.toUnsignedInt(elf.getShort(0x3A));
    int count = Short.toUnsignedInt(elf.getShort(0x3C));
    int names = (int) (table + (long) entry * Short.toUnsignedInt(elf.getShort(0x3E)));
    long text = elf.getLong(names + 0x18);
    for (int i = 0; i < count; i++) {
      int section = (int) (table + (long) entry * i);
      if (name(text + elf.getInt(section)).equals(".text." + kernel)) {
        return elf.getLong(section + 0x20);
      }
    }
    return 0;
  }

  private String name(long at) {
    int end = (int) at;
    while (end < bytes.length && bytes[end] != 0) {
      end++;
    }
    return new String(bytes, (int) at, end - (int) at, StandardCharsets.UTF_8);
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
