package dev.warpwright.compiler.execute;

import dev.warpwright.compiler.buffer.TensorBuffer;

/** What a run of an {@link Executable} changes, beside its outputs. For one thread at a time. */
public interface Workspace extends AutoCloseable {
  /**
   * Runs once, and returns when the outputs are filled.
   *
   * @param rows the row count M, from 0 on
   * @param inputs for each input [rows, features] at its start
   * @param outputs for each output as much, filled; none overlaps another one or an input
   * @throws IllegalStateException if this or the executable is closed
   */
  void run(int rows, TensorBuffer[] inputs, TensorBuffer[] outputs);

  @Override
  void close();
}
