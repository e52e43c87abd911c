package dev.warpwright.families.wgmma;

/** What was fitted of {@link HopperModel}; microseconds where nothing else is said. */
enum HopperNumber {
  /** Clocks in a microsecond that products seem to be issued at. */
  CLOCK,

  /** Columns by which an instruction is longer than those it multiplies. */
  SPARE_COLUMNS,

  /** Bytes of shared memory that the operands of instructions are read from in a clock. */
  SHARED_BYTES,

  /** What a warpgroup needs to bring 32 bytes of K of its rows to registers, word by word. */
  COLLECT,

  /** A warp's load or store of what it transposes on its way to shared memory. */
  TRANSPOSED,

  /** From the loads of what is transposed to those of the next step. */
  LOADED,

  /** Bytes in a microsecond more where no block has read them before. */
  LOADED_BYTES,

  /** How much longer threads take to copy MN-major rows that begin anywhere than K-major ones. */
  COPIED_ACROSS,

  /** Until all blocks know that operands are packed, beside what that moves. */
  PACKING,

  /** Bytes of operands that are packed in a microsecond. */
  PACKED_BYTES,

  /** Until what a thread has under way of rows that become aligned is packed, in microseconds. */
  ALIGNING_TURN,

  /** The same of the square that it transposes. */
  TRANSPOSING_TURN,

  /** Operations in a microsecond on 16 bits for which an SM's share of power lasts. */
  POWERED,

  /** Bytes that an SM takes in a microsecond: 64 in a clock. */
  TAKEN_BYTES,

  /** Bytes of whole lines for which L2 is asked by all in a microsecond. */
  L2_BYTES,

  /** How much longer that takes for rows that begin inside of lines, and even of their sectors. */
  INSIDE_LINE,
  INSIDE_SECTOR,

  /** Lines that a row of a panel narrower than a line takes. */
  NARROW,

  /** Lines that a row of a panel takes besides that ends outside of the matrix. */
  ENDS,

  /** The same for each sector of the panel. */
  ENDS_SECTOR,

  /** What of the time of rows stays where another block of the cluster asks for them. */
  RECEIVED,

  /** How much longer blocks take that leave room for others on their SM where there are none. */
  SPARE_ROOM,

  /** How much longer than for a row for one of a tile that lies outside of the matrix. */
  OUTSIDE,

  /** Bytes that all take from DRAM in a microsecond. */
  DRAM_BYTES,

  /**
   * Part of the time that DRAM would take to bring once more what blocks without a common cluster
   * read at the same time: some of it comes twice.
   */
  UNSHARED,

  /** From asking for a stage to having it, if it is in L2. */
  LATENCY,

  /** How much later what comes from DRAM is there. */
  FAR,

  /**
   * How much later it is there for each doubling of a cluster, whose blocks wait for each other.
   */
  CLUSTER_LATENCY,

  /** Times of a step's products in which its stage stays in use. */
  HELD,

  /**
   * How much longer a step takes whose stage is no mask of its number, measured while it was the
   * remainder of a division.
   */
  UNMASKED,

  /** What a cluster costs at its beginning and its end for each doubling. */
  CLUSTER,

  /** What a tile of one step costs in a cluster: its blocks wait for each other's results. */
  COUPLED,

  /**
   * From a block's end to the first product of the next one on its SM, where no other block fills
   * the gap and blocks do not go on by themselves.
   */
  RESTART,

  /** To start a kernel and to end it, beside what is named here. */
  START,

  /** To prepare the barriers of a stage. */
  STAGE,

  /** To look up the first tile in the table of work. */
  LOOKUP,

  /** A panel's way through shared memory, one after the other. */
  PANEL,

  /**
   * What a thread needs to store a pair of neighbouring elements, or one that has none: of swapped
   * tiles, and of others, whose threads each store parts of eight rows.
   */
  STORE,
  STORE_ROWS,

  /** What a thread needs to store elements of a panel's rows, one access. */
  ROW_STORE,

  /** Bytes of a result that an SM writes in a microsecond. */
  WRITTEN_BYTES,

  /** How much longer that takes of rows that are no multiples of sectors, from registers. */
  RAGGED,

  /** To say that a part is written, and to see it. */
  COMBINING,

  /** Bytes that an SM writes into another's shared memory in a microsecond. */
  CLUSTER_BYTES,

  /** What shares that end inside of tiles cost for each wave that is divided so. */
  STREAMING,

  /** How much longer steps take of blocks that are at different steps, and so share little. */
  APART,

  /** Bytes a microsecond of DRAM where such blocks read again what L2 no longer has. */
  APART_BYTES,

  /** The same beside that where threads transpose an operand that L2 no longer has. */
  STRAYED,

  /** Part of the first stage's way, or of the last products, that nothing else goes on beside. */
  FILL,

  /** How nearly what goes on at the same time takes no longer than the longest of it. */
  SHARP,

  /** A warp's instruction that copies 4 to 16 bytes for each thread. */
  COPY,

  /** From such a copy to its bytes, and the same for a batch of copies through registers. */
  COPY_LATENCY,
  BATCH,

  /** By how much more where no block has read before what is transposed. */
  BATCH_FIRST,

  /** How many times as long a batch takes whose vectors are shifted into place. */
  SHIFTED,

  /** How long a line that is copied occupies L1. */
  FIRST_LEVEL,

  /**
   * Bytes of an operand that stay in L2 while others pass, of 60 MB in two halves, each of which
   * keeps what its SMs read.
   */
  KEPT,

  /** What tiles of fewer rows than an instruction take of what is expected of them else. */
  FEW_ROWS,

  /** Blocks of a cluster of which one is late in every tile. */
  CROWD,

  /** Operands of so many times what L2 keeps have left it when another block asks for them. */
  FORGOTTEN
}
