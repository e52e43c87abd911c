package dev.warpwright.families.mma;

/** What was fitted of {@link AmpereModel}; microseconds where nothing else is said. */
enum AmpereNumber {
  CLOCK,

  /** Bytes of shared memory that an SM reads in a clock. */
  SHARED_BYTES,

  /** A warp's instruction that copies 4 to 16 bytes for each thread. */
  COPY,

  /** The same of fewer bytes, which go through registers while products are under way. */
  SMALL_COPY,

  /** How many times as long the latter take if vectors are shifted into place. */
  SHIFTED,

  /** How many times as long MN-major words, or bytes, take to read, one by one. */
  GATHERED_WORDS,
  GATHERED_BYTES,

  /**
   * How much later MN-major operands of 32 bytes of K are there, word by word, which other warps of
   * a scheduler hide.
   */
  COLLECTED,

  /** How nearly what the same warps issue takes no longer than the longest of it. */
  ISSUED,

  /** How nearly all else does. */
  SHARP,

  /** A step's barrier and what is around it, which another block may hide. */
  BARRIER,
  LATENCY,

  /** Bytes for which L2 is asked by all in a microsecond. */
  L2_BYTES,

  /** Bytes that all take from DRAM in a microsecond. */
  DRAM_BYTES,

  /** How much of the shorter of steps and DRAM comes on top of the longer. */
  BESIDE,

  /** To start a kernel and to end it. */
  START,

  /** To store an element from its register, and how many times as long it takes in odd rows. */
  STORE,
  ODD_ROWS,

  /** To say that a part is written, and to see it. */
  COMBINING,

  /** Bytes of partial sums that a block writes or reads in a microsecond. */
  COMBINED_BYTES,

  /** What shares that end inside of tiles cost for each wave that is divided so. */
  STREAMING,

  /**
   * Bytes of an operand that stay in L2 while others pass, of 60 MB in two halves, each of which
   * keeps what its SMs read.
   */
  KEPT,

  /** Operations of an SM in a clock that mma.sync reaches on 16-bit operands. */
  PER_CLOCK,

  /**
   * How much longer products of 8-bit floats take than of bytes: targets without instructions of
   * their own for them, sm_90 is one, convert them to f16.
   */
  FLOAT8
}
