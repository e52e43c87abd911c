package dev.warpwright.compiler.execute;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.buffer.DeviceStream;
import java.util.List;

/**
 * A program on a device, its constants in place. What a run changes is in a {@link Workspace}: any
 * number of them may run at the same time. The methods here that run are for verification and
 * measurement, for one thread, and share one workspace.
 */
public interface Executable extends AutoCloseable {
  /**
   * The memory of a run; it is closed with the executable, if nobody closes it before.
   *
   * @throws IllegalStateException if the executable is closed
   */
  Workspace newWorkspace();

  /**
   * The memory of runs that are given to a stream; it is closed with the executable, if nobody
   * closes it before.
   *
   * @throws UserError if the stream is another device's
   * @throws IllegalStateException if the executable or the stream is closed
   */
  default Workspace newWorkspace(DeviceStream stream) {
    if (stream.cuda() != null) {
      throw new UserError("the stream is a GPU's; the model does not run there");
    }
    return newWorkspace();
  }

  /**
   * Runs once, for verification: outputs are poisoned first, so that an element that no kernel
   * writes is NaN and not the last run's.
   *
   * @param rows the row count M, from 0 on
   * @param inputs one array for each input, [rows, features] row-major, rounded to the input's type
   *     on the way
   * @param outputs one array for each output, filled
   * @throws IllegalArgumentException if an array's length does not fit
   * @throws IllegalStateException if the executable is closed
   */
  void run(int rows, List<float[]> inputs, List<float[]> outputs);

  /**
   * Runs the program again on the inputs of the last {@link #run} and measures.
   *
   * @param repetitions measured runs, after a warm-up
   */
  Timing time(int repetitions);

  /**
   * Medians in microseconds.
   *
   * @param totalUs the program from the first kernel's start to the last one's end
   * @param kernelUs each launch, in order
   */
  record Timing(double totalUs, List<Double> kernelUs) {
    public Timing {
      kernelUs = List.copyOf(kernelUs);
    }
  }

  /**
   * What the last {@link #run} did that it must not do, one line each; empty on devices that cannot
   * tell.
   */
  default List<String> findings() {
    return List.of();
  }

  /**
   * What is known of the kernel of each launch only once it is compiled for the device, in order.
   */
  List<KernelFacts> kernelFacts();

  /**
   * Facts of a compiled kernel.
   *
   * @param grid blocks along x, y, z at the last run, or the number of parallel iterations and ones
   * @param registers of a thread; 0 where there are none
   */
  record KernelFacts(
      String name, List<Long> grid, List<Integer> block, int sharedBytes, int registers) {
    public KernelFacts {
      grid = List.copyOf(grid);
      block = List.copyOf(block);
    }
  }

  @Override
  void close();
}
