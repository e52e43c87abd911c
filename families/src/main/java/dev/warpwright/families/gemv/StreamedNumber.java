package dev.warpwright.families.gemv;

/** What was fitted of {@link StreamedSketch}; clocks where nothing else is said. */
enum StreamedNumber {
  MHZ,

  /** Bytes that all SMs take from DRAM in a microsecond. */
  DRAM_BYTES,

  /** From asking for a line to having it. */
  LATENCY,

  /** Norm by which memory, the waits of blocks and their instructions become one time. */
  SHARP,

  /** Bytes that an SM takes from its L1 in a clock. */
  L1_BYTES,

  /** Part of the multiply-adds that nothing hides: few warps have so many registers. */
  EXPOSED,

  /** One part in the final sum, and what is around it. */
  PART,
  END,

  /** Microseconds. */
  LAUNCH
}
