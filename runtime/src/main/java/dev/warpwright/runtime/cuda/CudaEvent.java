package dev.warpwright.runtime.cuda;

import dev.warpwright.runtime.call.Out;

/** A point in a stream's work. */
public final class CudaEvent extends CudaResource {
  private static final int DISABLE_TIMING = 2;

  private final long handle;

  private CudaEvent(CudaContext context, long handle) {
    super(context);
    this.handle = handle;
  }

  static CudaEvent create(CudaContext context, boolean timing) {
    context.use();
    try (Out out = new Out()) {
      context.check(
          StreamCalls.createEvent(out.address(), timing ? 0 : DISABLE_TIMING), "cuEventCreate");
      return new CudaEvent(context, out.asLong());
    }
  }

  /**
   * @param stream of the event's context
   */

  /**
   * Puts this event behind all work that the stream was given so far.
   *
   * @param stream of the event's context
   */
  public void record(CudaStream stream) {
    use();
    context().check(StreamCalls.record(handle, stream.handle()), "cuEventRecord");
  }

  /** Waits until the device has passed this event, and reports a failure before it. */
  public void synchronize() {
    use();
    context().check(StreamCalls.synchronizeEvent(handle), "cuEventSynchronize");
  }

  /**
   * {@return milliseconds from an earlier event to this one, to about half a microsecond} Both must
   * have been passed.
   *
   * @param earlier of the same context
   * @throws dev.warpwright.base.DeviceError if one was not recorded or is not passed yet
   */
  public float millisSince(CudaEvent earlier) {
    use();
    try (Out out = new Out()) {
      context()
          .check(
              StreamCalls.elapsed(out.address(), earlier.handle(), handle), "cuEventElapsedTime");
      return out.asFloat();
    }
  }

  long handle() {
    checkOpen();
    return handle;
  }

  @Override
  int destroy() {
    return StreamCalls.destroyEvent(handle);
  }

  @Override
  public String toString() {
    return "CUDA event";
  }
}
