package dev.warpwright.networks.registers;

/** What was fitted of {@link ChainTimes}; clocks where nothing else is said. */
enum ChainNumber {
  /** In a microsecond. */
  CLOCKS,

  /** To start a kernel and to end it. */
  LAUNCH,

  /** Until a warp has begun. */
  START,

  /** Of an issue slot: some stay empty, for operands are not there. */
  SLOT,

  /** Of a call, for a warp: four lanes of a scheduler compute functions. */
  CALL,

  /** Bytes from and to memory in a clock, for each SM. */
  BYTES_PER_CLOCK,

  /** By how much memory takes longer for each warpgroup beyond four that has rows under way. */
  CROWDED,

  /** Bytes that the copy engine takes in, in a clock: by linear copies, and whole lines. */
  COPIED_BYTES,

  /** Of a wgmma, whose columns take half a clock each otherwise. */
  LEAST_WGMMA,

  /** How many times as long as that wgmma takes. */
  WGMMA,

  /** Of m16n8k16 on a scheduler's tensor core, by full ones and by one warp alone. */
  MMA,
  MMA_ALONE,

  /** Bytes of weights of a warp's products in a clock: of shared memory, and from L1 and L2. */
  SHARED_BYTES,
  STREAMED_BYTES,

  /** The latter by one warp alone, which waits for what it asks for. */
  STREAMED_ALONE,

  /** From a layer's last product to the next one's first, of a warpgroup and of a warp. */
  LAYER,
  WARP_LAYER,

  /** From a part of a layer's columns to the next one's. */
  PART,

  /** How many times as long it takes where hardly a register is left. */
  TIGHT,

  /** Of a stage of several slices: the wait for it, and that its products end with it. */
  STAGE,

  /** From a stage's end to its next weights, beside what their bytes take. */
  REFILL,

  /** From a tile's end to the next one's rows, if they are not read ahead. */
  READ,

  /** Of an instruction that is not in the cache: for the first time, and each further time. */
  FETCH,
  REFETCH,

  /** Instructions of 16 bytes that stay. */
  CACHED,

  /**
   * How long ahead of its rows a launch copies weights, where the one before it leaves SMs to it.
   */
  EARLY,

  /** Until what is read of columns is there. */
  VECTOR_WAIT,

  /**
   * Slots for each element of a vector that all rows read: four elements a load, and those of two
   * rows are one.
   */
  VECTOR,

  /**
   * Of a warp's load: eight rows, a line each; of words, of rows that are no multiples of 16 bytes,
   * and of single 16-bit elements more.
   */
  LOAD,
  WORD_LOAD,
  NARROW_LOAD,

  /** The same of stores: words and elements fill no sector. */
  STORE,
  WORD_STORE,
  NARROW_STORE,

  /** Of a pair that a warp puts where rows are stored from, and of an element of odd rows. */
  PUT,
  PUT_ELEMENT
}
