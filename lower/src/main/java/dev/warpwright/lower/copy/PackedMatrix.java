package dev.warpwright.lower.copy;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;

/** A matrix in global memory that blocks copy to another place, in shares. */
sealed interface PackedMatrix permits AlignedMatrix, TransposedMatrix {
  /** What TMA copies take at a time, and begin at multiples of. */
  int CHUNK = 16;

  /** Registers of what a thread has under way, at most: their loads cover the way from memory. */
  int LOADED = 64;

  /** Registers that a thread needs beside what it has loaded. */
  int OTHER_REGISTERS = 40;

  /** Shares of all blocks together. */
  long shares();

  /**
   * Moves a share.
   *
   * @param share its number, below {@link #shares}
   * @param tid the thread among all of a block's
   */
  Stmt move(Expr share, Var tid);

  /** Elements from a row to the next. */
  static long pitch(Buffer matrix) {
    return matrix.layout() == null ? matrix.extent(1) : matrix.layout().offset(1, 0);
  }

  /** Whether all rows begin at multiples of 16 bytes. */
  static boolean isAligned(Buffer matrix) {
    return pitch(matrix) * matrix.dtype().bytes() % CHUNK == 0 && matrix.alignment() >= CHUNK;
  }
}
