package dev.warpwright.ir.verify;

/** What a well-formed program observes. */
public enum Rule {
  /** A variable or buffer is used only where it is declared. */
  DECLARED,
  /** A variable or buffer is not declared again inside its own scope. */
  DECLARED_ONCE,
  /** Operands and values have the types that their operators, functions and targets take. */
  TYPES,
  /** Indices are integers; only the last one may be a vector. */
  INDICES,
  /** No access is certain to be outside of its buffer. */
  IN_BOUNDS,
  /** A statement or loop kind belongs to the level and kind of program that it is in. */
  LEVEL,
  /** A buffer's scope is one that its place allows. */
  SCOPES,
  /** Extents are constants where the code is unrolled, vectorized or memory is laid out. */
  CONSTANT_EXTENTS,
  /** A layout covers its buffer's shape and has no negative strides. */
  LAYOUTS,
  /** A block names what it reads and writes, and uses only its own iteration variables. */
  BLOCKS,
  /** Only reductions have an init, and neither init nor the place written depends on the sum. */
  REDUCTIONS,
  /** The tiles of a tile statement have fitting shapes and types. */
  TILES,
  /** A pipe is long enough, and filled and read by one role each, inside its scope. */
  PIPES,
  /** Roles share nothing that is written but by pipes and signals. */
  ROLES,
  /** Counters only grow, are only awaited, and stand between a write and who reads it. */
  SIGNALS,
  /** A launch has one index for each axis and at most 1024 threads, in constant numbers. */
  LAUNCH,
  /** An intrinsic gets the operands that it takes, and is called where it can run. */
  INTRINSICS,
  /** Threads that execute a call together do not part before it. */
  CONVERGENCE,
  /** A vector access covers consecutive elements, at most 16 bytes on a GPU. */
  VECTORS,
  /** A launch's arguments have the type, rank and constant extents of the parameters. */
  ARGUMENTS,
  /** Outputs and workspace are written before they are read, inputs and constants never. */
  DATAFLOW,
  /** Views are rows of other buffers; what devices add differs between them, outputs do not. */
  DEVICES,
  /** Attributes are known, of their type, and stand where they may. */
  ATTRIBUTES,
  /** Kernels have different names. */
  KERNEL_NAMES
}
