package dev.warpwright.jvm;

/** A compiled host kernel with arguments that suit it. */
public final class BoundFunction {
  private final HostFunction function;
  private final Object[] arrays;
  private final long[] scalars;

  BoundFunction(HostFunction function, Object[] arrays, long[] scalars) {
    this.function = function;
    this.arrays = arrays;
    this.scalars = scalars;
  }

  /**
   * Runs the kernel on what is in the arrays now.
   *
   * @param parallel runs the parallel loops
   */
  public void run(Parallel parallel) {
    function.invoke(parallel, Frame.ALL, false, arrays, scalars);
  }

  /**
   * Has later runs use another array for a buffer; for one thread at a time.
   *
   * @param index of the buffer among the kernel's
   * @param array as for {@link HostFunction#run}
   * @throws IllegalArgumentException if it is of the wrong type or too short
   */
  public void replace(int index, Object array) {
    function.check(index, array);
    arrays[index] = array;
  }

  /**
   * Runs the kernel cut short, whatever comes of that.
   *
   * @param limit iterations of a serial loop at most; 0 for one, and nothing that has vectors
   */
  void warmUp(Parallel parallel, int limit) {
    function.invoke(parallel, Math.max(1, limit), limit == 0, arrays, scalars);
  }

  int vectorInstructions() {
    return function.vectorInstructions();
  }
}
