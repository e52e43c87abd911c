package dev.warpwright.target;

import java.util.List;
import java.util.Optional;

/**
 * An architecture of NVIDIA GPUs, with the limits that code has to keep (CUDA programming guide,
 * table of technical specifications by compute capability).
 *
 * @param name as compilers take it, for example {@code sm_80} or {@code sm_90a}
 * @param arch compute capability times ten, for example 80
 * @param archSpecific whether code may use what only this architecture has (wgmma, setmaxnreg)
 * @param sharedPerSm bytes of shared memory of an SM
 * @param sharedPerBlock bytes of shared memory that a block may ask for (more than {@link
 *     #STATIC_SHARED} only dynamically)
 * @param reservedPerBlock bytes of {@code sharedPerSm} that each resident block takes for the
 *     system
 * @param threadsPerSm threads resident on an SM
 * @param blocksPerSm blocks resident on an SM
 */
public record GpuTarget(
    String name,
    int arch,
    boolean archSpecific,
    int sharedPerSm,
    int sharedPerBlock,
    int reservedPerBlock,
    int threadsPerSm,
    int blocksPerSm)
    implements Target {
  /** Bytes of shared memory that a kernel may declare statically. */
  public static final int STATIC_SHARED = 48 << 10;

  /** Registers of 32 bits of an SM, which is also the limit of a block. */
  public static final int REGISTERS_PER_SM = 65_536;

  /** Registers that a thread can use. */
  public static final int REGISTERS_PER_THREAD = 255;

  public static final int THREADS_PER_BLOCK = 1024;
  public static final int WARP_SIZE = 32;

  public static final GpuTarget SM_75 = of("sm_75", 75, false, 64, 64, 0, 1024, 16);
  public static final GpuTarget SM_80 = of("sm_80", 80, false, 164, 163, 1, 2048, 32);
  public static final GpuTarget SM_86 = of("sm_86", 86, false, 100, 99, 1, 1536, 16);
  public static final GpuTarget SM_89 = of("sm_89", 89, false, 100, 99, 1, 1536, 24);
  public static final GpuTarget SM_90A = of("sm_90a", 90, true, 228, 227, 1, 2048, 32);

  private static final GpuTarget SM_70 = of("sm_70", 70, false, 96, 96, 0, 2048, 32);
  private static final GpuTarget SM_100A = of("sm_100a", 100, true, 228, 227, 1, 2048, 32);
  private static final GpuTarget SM_120A = of("sm_120a", 120, true, 100, 99, 1, 1536, 24);

  /** Those for which code is generated, oldest first. */
  public static final List<GpuTarget> ALL = List.of(SM_75, SM_80, SM_86, SM_89, SM_90A);

  /** Those of which there are devices in the catalogue, be it for predictions only. */
  public static final List<GpuTarget> KNOWN =
      List.of(SM_70, SM_75, SM_80, SM_86, SM_89, SM_90A, SM_100A, SM_120A);

  private static GpuTarget of(
      String name,
      int arch,
      boolean specific,
      int smKiB,
      int blockKiB,
      int reservedKiB,
      int t,
      int b) {
    return new GpuTarget(
        name, arch, specific, smKiB << 10, blockKiB << 10, reservedKiB << 10, t, b);
  }

  /**
   * {@return the target with this name; {@code sm_90} means {@code sm_90a}}
   *
   * @param name for example {@code sm_80}
   */
  public static Optional<GpuTarget> find(String name) {
    String wanted = name.equals("sm_90") ? "sm_90a" : name;
    return ALL.stream().filter(target -> target.name.equals(wanted)).findFirst();
  }

  /**
   * {@return the target whose code runs on a device of this compute capability, if there is one}
   *
   * @param major 9 of 9.0
   * @param minor 0 of 9.0
   */
  public static Optional<GpuTarget> forCapability(int major, int minor) {
    int capability = 10 * major + minor;
    return ALL.stream()
        .filter(t -> t.arch / 10 == major && t.arch <= capability)
        .filter(t -> !t.archSpecific || t.arch == capability)
        .reduce((older, newer) -> newer);
  }

  /**
   * {@return whether code for this target may use something that needs {@code minimumArch}}
   *
   * @param minimumArch compute capability times ten
   * @param needsArchSpecific whether it exists on that architecture only
   */
  public boolean supports(int minimumArch, boolean needsArchSpecific) {
    return needsArchSpecific ? archSpecific && arch == minimumArch : arch >= minimumArch;
  }

  /** {@return whether there is mma.sync on f16, and ldmatrix} */
  public boolean hasTensorF16() {
    return arch >= 75;
  }

  /** {@return whether there is mma.sync on bf16 and tf32, of m16n8k16, and cp.async} */
  public boolean hasAmpere() {
    return arch >= 80;
  }

  /** {@return whether there are warpgroup matrix instructions, TMA copies, clusters} */
  public boolean hasHopper() {
    return archSpecific && arch == 90;
  }

  /** {@return whether warpgroups multiply (wgmma), with operands that TMA copies bring} */
  public boolean hasWgmma() {
    return hasHopper();
  }

  /**
   * {@return whether warps multiply 16 by 8 by 16 (mma.sync), with operands that cp.async brings}
   */
  public boolean hasMmaSync() {
    return hasAmpere();
  }

  /** {@return operations in f32 of an SM in one clock, a fused multiply-add counting as two} */
  public int fp32PerClock() {
    return arch <= 80 ? 128 : 256;
  }

  /**
   * {@return operations in f64 of an SM in one clock, without tensor cores (CUDA C++ Programming
   * Guide, throughput of native arithmetic instructions)}
   */
  public int fp64PerClock() {
    return switch (arch) {
      case 80 -> 64;
      case 90 -> 128;
      default -> 4;
    };
  }

  /**
   * {@return registers that each thread may use where so many threads are resident on an SM}
   *
   * @param residentThreads at least 1
   */
  public static int registersOfThread(int residentThreads) {
    return Math.min(REGISTERS_PER_THREAD, REGISTERS_PER_SM / residentThreads);
  }

  /**
   * {@return blocks of a kernel that fit on an SM at once, as the occupancy calculator counts
   * (barriers aside)}
   *
   * @param threads of a block
   * @param registers registers of a thread
   * @param sharedBytes shared memory of a block
   */
  public int blocksPerSm(int threads, int registers, int sharedBytes) {
    int warps = (threads + WARP_SIZE - 1) / WARP_SIZE;
    int perWarp = roundUp(Math.max(registers, 1) * WARP_SIZE, 256);
    int byRegisters =
        perWarp * roundUp(warps, 4) > REGISTERS_PER_SM
            ? 0
            : 4 * (REGISTERS_PER_SM / 4 / perWarp) / warps;
    int shared = roundUp(sharedBytes + reservedPerBlock, arch == 75 ? 256 : 128);
    int byShared = shared == 0 ? blocksPerSm : sharedPerSm / shared;
    int byWarps = threadsPerSm / WARP_SIZE / warps;
    return Math.min(Math.min(byRegisters, byShared), Math.min(byWarps, blocksPerSm));
  }

  private static int roundUp(int value, int multiple) {
    return (value + multiple - 1) / multiple * multiple;
  }
}
