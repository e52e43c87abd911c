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

  /**
   * {@link #run} in the order of the stream that the workspace was made for: outputs are filled
   * when its work so far is done.
   *
   * @param rows the row count M, from 0 on
   * @param inputs for each input [rows, features] at its start, on the device
   * @param outputs for each output as much, on the device, filled
   * @throws IllegalStateException if this or the executable is closed
   */
  default void enqueue(int rows, TensorBuffer[] inputs, TensorBuffer[] outputs) {
    run(rows, inputs, outputs);
  }

  @Override
  void close();
}
