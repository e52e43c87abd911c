package dev.warpwright.families.simt;

import dev.warpwright.families.wgmma.HopperLimits;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What a {@link SimtConfig} has to keep, checked without making a schedule. */
public final class SimtLimits {
  /** Products that one thread's code for a step lists, so that the cache of instructions does. */
  private static final int MAX_UNROLLED = 4096;

  /** How many times as long a side is whose matrix decides how both lie in shared memory. */
  private static final int MUCH_LARGER = 8;

  /** Registers beside sums and operands: addresses and counters. */
  private static final int OTHER_REGISTERS = 36;

  /** What compilers spend beyond that where nothing bounds them: the mean of 22 kernels. */
  private static final int UNBOUNDED_REGISTERS = 12;

  /** Accumulators beyond which compilers do not unroll the loop over others' partial sums. */
  private static final int MANY_SUMS = 64;

  /**
   * What a thread of fewer has there beside them, and what it is taken to have if its operands are
   * vectors along K.
   */
  private static final int ADDED_PARTS = 80;

  private static final int UNROLLED_PARTS = 170;

  /** What a thread of more has beside its partial sums and another's, which are all under way. */
  private static final int BESIDE_PARTS = 14;

  private SimtLimits() {}

  /** One line that says why products of this kind are not for threads; null if they are. */
  public static @Nullable String operandsProblem(GemmWorkload workload) {
    if (workload.batch().isMany()) {
      return "batches are computed on tensor cores only";
    }
    if (workload.epilogue().glu()) {
      return "gated linear units are computed on tensor cores only";
    }
    if (workload.isStrided()) {
      return "rows must follow each other";
    }
    // Exact products of f32 will do where rounded ones were asked for.
    boolean exact =
        workload.precision() == Precision.F64
            || workload.precision() == Precision.TF32
            || workload.precision() == Precision.F32;
    return exact
        ? null
        : String.format(
            Locale.ROOT,
            "threads multiply f32 and f64, not %s in %s",
            workload.operands(),
            workload.precision().arithmetic());
  }

  /** One line that says why a configuration is impossible; null if nothing is known against it. */
  public static @Nullable String problem(GemmWorkload workload, SimtConfig c, GpuTarget target) {
    String operands = operandsProblem(workload);
    if (operands != null) {
      return operands;
    }
    int bytes = workload.operands().bytes();
    int run = SimtGemm.WIDEST / bytes;
    if (c.lanesM() < 1 || 32 % c.lanesM() != 0) {
      return String.format(Locale.ROOT, "a warp has no %d lanes along the rows", c.lanesM());
    }
    if (!divides(c.lanesM(), c.warpM()) || !divides(c.warpM(), c.tileM())) {
      return String.format(
          Locale.ROOT, "%d rows in parts of %d for %d lanes", c.tileM(), c.warpM(), c.lanesM());
    }
    if (!divides(c.lanesN(), c.warpN()) || !divides(c.warpN(), c.tileN())) {
      return String.format(
          Locale.ROOT, "%d columns in parts of %d for %d lanes", c.tileN(), c.warpN(), c.lanesN());
    }
    if (!c.alongK() && (!groups(c.rows(), run) || !groups(c.columns(), run))) {
      return String.format(
          Locale.ROOT,
          "%d x %d accumulators of a thread are no groups of %d",
          c.rows(),
          c.columns(),
          run);
    }
    if (c.threads() > 1024 || c.minBlocks() < 1) {
      return String.format(Locale.ROOT, "%d blocks of %d threads", c.minBlocks(), c.threads());
    }
    int each = GpuTarget.registersOfThread(c.threads() * c.minBlocks());
    if (c.threads() * c.minBlocks() > target.threadsPerSm() || registers(c, bytes) > each) {
      return String.format(
          Locale.ROOT,
          "about %d registers of each of %d threads in %d blocks, there are %d",
          registers(c, bytes),
          c.threads(),
          c.minBlocks(),
          each);
    }
    if (c.sums() * c.tileK() / Math.max(1, c.slices()) > MAX_UNROLLED) {
      return String.format(
          Locale.ROOT, "%d multiply-adds of a thread in a step of %d", c.sums(), c.tileK());
    }
    if (c.alongK() && !canLieAlongK(workload)) {
      return "K-major tiles of matrices that do not lie so";
    }
    int reads = c.tileK() / Math.max(1, c.slices()) / (c.alongK() ? run : 1);
    if (!divides(c.slices(), c.tileK())
        || c.tileK() % run != 0
        || c.alongK() && c.tileK() % (c.slices() * run) != 0
        || c.ahead() && reads % 2 != 0) {
      return String.format(Locale.ROOT, "a step of %d for %d slices", c.tileK(), c.slices());
    }
    if (c.parts() < 1 || c.parts() > 1 && (c.slices() > 1 || c.parts() > steps(workload, c))) {
      return String.format(
          Locale.ROOT,
          "%d parts of %d steps, in %d slices",
          c.parts(),
          steps(workload, c),
          c.slices());
    }
    if (!divides(c.panel(), Math.toIntExact(Math.ceilDiv(workload.m(), c.tileM())))) {
      return String.format(
          Locale.ROOT, "panels of %d rows of %d", c.panel(), Math.ceilDiv(workload.m(), c.tileM()));
    }
    if (c.byRows() && (c.slices() > 1 || c.parts() > 1)) {
      return "accumulators of slices and parts are stored by rows as it is";
    }
    if (c.slices() > 1 && c.sums() % c.slices() != 0) {
      return String.format(
          Locale.ROOT, "%d accumulators of a thread in %d slices", c.sums(), c.slices());
    }
    if (c.stages() < 2 || c.stages() > 2 && !(target.hasAmpere() && bytes == 4)) {
      return c.stages() + " stages; more than 2 need asynchronous copies of 4 bytes";
    }
    return HopperLimits.sharedProblem(sharedBytes(workload, c), c.minBlocks(), target);
  }

  /**
   * {@return blocks that an SM is expected to hold: at least those that registers are bounded for,
   * more where they are few}
   */
  static int blocksPerSm(GemmWorkload workload, SimtConfig c, GpuTarget target) {
    return Math.max(
        c.minBlocks(),
        target.blocksPerSm(
            c.threads(),
            Math.min(unbounded(workload, c), GpuTarget.registersOfThread(c.threads())),
            Math.toIntExact(sharedBytes(workload, c))));
  }

  /** How many times the registers that a thread may have compilers would give it. */
  static double squeezed(GemmWorkload workload, SimtConfig c) {
    int bound = GpuTarget.registersOfThread(c.threads() * c.minBlocks());
    return (double) unbounded(workload, c) / bound;
  }

  /** Registers of a thread that nothing bounds. */
  private static int unbounded(GemmWorkload workload, SimtConfig c) {
    int bytes = workload.operands().bytes();
    return Math.max(registers(c, bytes) + UNBOUNDED_REGISTERS, combining(c, bytes));
  }

  /** What a thread holds: sums, operands, and the next tiles where they go through registers. */
  private static int registers(SimtConfig c, int bytes) {
    // Of several elements of K a thread need not hold more than the smaller side's and one row.
    int operands =
        (c.ahead() ? 2 : 1)
            * (c.alongK()
                ? (Math.min(c.rows(), c.columns()) + 1) * (SimtGemm.WIDEST / bytes)
                : c.rows() + c.columns());
    int next = c.stages() > 2 ? 0 : Math.ceilDiv((c.tileM() + c.tileN()) * c.tileK(), c.threads());
    return (c.sums() + operands + next) * bytes / 4 + OTHER_REGISTERS;
  }

  /**
   * What compilers give a thread that nothing bounds where the last block of a tile adds what
   * others left: of 162 kernels, 206 to 214 for 8 x 12 accumulators, 146 for 8 x 8; of 40 more, 80
   * for 8, 92 to 128 for 16, 109 for 32, 127 for 48. Where operands are vectors along K, 110 to 254
   * for 8 to 64.
   */
  private static int combining(SimtConfig c, int bytes) {
    if (c.parts() == 1) {
      return 0;
    }
    int words = c.sums() * bytes / 4;
    if (words > MANY_SUMS) {
      return 2 * words + BESIDE_PARTS;
    }
    return c.alongK() ? UNROLLED_PARTS : words + ADDED_PARTS;
  }

  /** Whether A is turned on its way to shared memory. */
  static boolean turnsA(GemmWorkload workload, SimtConfig c) {
    return workload.layout().transposedA() == c.alongK();
  }

  /** The same of B. */
  static boolean turnsB(GemmWorkload workload, SimtConfig c) {
    return workload.layout().transposedB() != c.alongK();
  }

  /**
   * Whether tiles may lie along K in shared memory: where both matrices do, or the one that is far
   * larger. Few elements are turned then.
   */
  static boolean canLieAlongK(GemmWorkload workload) {
    boolean alongA = !workload.layout().transposedA();
    boolean alongB = workload.layout().transposedB();
    long larger = alongB ? workload.n() : workload.m();
    long smaller = alongB ? workload.m() : workload.n();
    return alongA && alongB || (alongA || alongB) && smaller <= larger / MUCH_LARGER;
  }

  private static long steps(GemmWorkload workload, SimtConfig c) {
    return Math.ceilDiv(workload.k(), (long) c.tileK());
  }

  private static boolean divides(int part, int whole) {
    return part >= 1 && whole >= part && whole % part == 0;
  }

  private static boolean groups(int elements, int run) {
    return elements % run == 0 || run % elements == 0;
  }

  /**
   * From one row of a tile to the next where neighbours read down, or write: an odd number of
   * vectors.
   */
  private static int turnedPitch(int elements, int run) {
    return elements + Math.floorMod(run - elements, 2 * run);
  }

  /** Bytes of shared memory of a block, at most. */
  public static long sharedBytes(GemmWorkload workload, SimtConfig c) {
    int bytes = workload.operands().bytes();
    int run = SimtGemm.WIDEST / bytes;
    int pitchK = turnedPitch(c.tileK(), run);
    int pitchM = workload.layout().transposedA() ? c.tileM() : turnedPitch(c.tileM(), run);
    int pitchN = workload.layout().transposedB() ? turnedPitch(c.tileN(), run) : c.tileN();
    long a = (c.alongK() ? (long) c.tileM() * pitchK : (long) c.tileK() * pitchM) * bytes;
    long b = (c.alongK() ? (long) c.tileN() * pitchK : (long) c.tileK() * pitchN) * bytes;
    long result = c.byRows() ? (long) c.tileM() * turnedPitch(c.tileN(), run) * bytes : 0;
    return c.stages() * (slot(a) + slot(b)) + partSums(c) * bytes + turn(c) + result;
  }

  /** Slots of a pipeline begin at multiples of 128 bytes. */
  private static long slot(long bytes) {
    return Math.ceilDiv(bytes, 128) * 128;
  }

  /** Bytes in which a thread tells the others of its block how many parts of the tile are there. */
  private static long turn(SimtConfig c) {
    return c.parts() == 1 ? 0 : DType.U32.bytes();
  }

  private static long partSums(SimtConfig c) {
    return c.slices() == 1 ? 0 : (long) c.slices() * c.tileM() * c.tileN();
  }
}
