package dev.warpwright.jvm;

/**
 * Base of the generated classes. One instance without captures is the kernel itself; the others are
 * the body of parallel loop number {@code id} with the values that it captured.
 */
abstract class GeneratedKernel implements Parallel.Body {
  protected final int id;
  protected final Frame frame;
  protected final Object[] refs;
  protected final long[] values;

  protected GeneratedKernel(int id, Frame frame, Object[] refs, long[] values) {
    this.id = id;
    this.frame = frame;
    this.refs = refs;
    this.values = values;
  }
}
