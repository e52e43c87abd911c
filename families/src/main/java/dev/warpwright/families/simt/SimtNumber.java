package dev.warpwright.families.simt;

/** What was fitted of {@link SimtModel}; clocks where nothing else is said. */
enum SimtNumber {
  MHZ,

  /** Part of the clocks in which multiply-adds are issued at best. */
  FMA_EFFICIENCY,

  /** What a serpentine order gains: an operand stays where it is. */
  SERPENTINE,

  /** What is lost for each side of a thread's accumulators that is no power of two. */
  UNEVEN,

  /** The same more where neither is one. */
  UNEVEN_BOTH,

  /**
   * How much longer multiply-adds take a warp that is alone on its scheduler, and waits for its own
   * reads; a quarter of that where there are two.
   */
  STALL,

  /** How much longer a step takes for each doubling of the warps that meet at its barrier. */
  SPREAD,

  /**
   * What reading ahead by hand costs where the compiler does it better, and what it gains where
   * many warps take turns.
   */
  AHEAD,
  AHEAD_OF_MANY,

  /** What is left where operands are vectors along K: their registers are in each other's way. */
  ALONG_K,

  /** Bytes that an SM takes from L2 in a clock. */
  L2_BYTES,

  /** Bytes that all take from DRAM in a microsecond. */
  DRAM_BYTES,

  /** Clocks from asking for a tile to having it. */
  LATENCY,

  /** Clocks of the reads of an element of K, of which others hide most, and around a barrier. */
  READ,
  BARRIER,

  /** Instructions of a warp in a step beside multiply-adds, reads and copies. */
  STEP,

  /** Instructions that copy a vector, and a single element with its address. */
  COPY_VECTOR,
  COPY_ELEMENT,

  /** Part of a vector's instructions that an element takes on its way through registers. */
  COPY_NARROW,

  /** How much longer an asynchronous copy of a pair takes to issue than that of a vector. */
  COPY_PAIR,

  /**
   * Clocks of shared memory for a warp's instruction that reads a vector, of a tile of which both
   * rows and columns are shared out to its lanes, and of one of which only rows or columns are.
   */
  READ_BOTH,
  READ_ONE,

  /** Clocks of shared memory to write an element for each lane of a warp. */
  WRITE,

  /** The same more where an asynchronous copy brings each element by itself. */
  COPY_SINGLE,

  /** Part of that which single elements take that lie beside each other. */
  BESIDE,

  /** How much of what is not the greatest of several needs comes on top of it. */
  MIXED,

  /** How much of latency, or of a step that is shorter, comes on top of the longer of the two. */
  WAITED,

  /**
   * Bytes of instructions of an element of K, unrolled to a step, that a warp alone on its
   * scheduler need not fetch anew, and how much longer those beyond them take.
   */
  FETCHED_CODE,
  FETCH,

  /** The same where a scheduler has several warps, each of another block. */
  FETCH_APART,

  /** What reading only one, or two, of the sectors of a line at a time costs memory. */
  ONE_SECTOR,
  TWO_SECTORS,

  /** Clocks for which the last block of a tile waits for each part, beside the time to read it. */
  PART,
  LAUNCH,

  /** What each element more of the next tile costs that a thread holds for a step. */
  CROWDING,

  /** How much longer a step takes that copies several sectors of a row element by element. */
  SECTORS_APART,

  /** How much longer a step takes for as many registers more as compilers would give a thread. */
  SQUEEZED,

  /**
   * How much longer a step takes whose copies go through registers of some threads only: loads
   * under a condition are not moved ahead.
   */
  GUARDED,

  /**
   * Bytes on their way to an SM that keep DRAM busy, and how much longer it takes for as many more.
   */
  ENOUGH_BYTES,
  FLOODED,

  /**
   * The same of lines of which an SM asks for parts, one after the other, on their way through
   * registers.
   */
  ENOUGH_LINES,
  SCATTERED,

  /** Bytes of operands that L2 keeps from wave to wave. */
  KEPT_BYTES,

  /** Multiply-adds of f64 that an SM starts in a clock. */
  F64_PER_CLOCK
}
