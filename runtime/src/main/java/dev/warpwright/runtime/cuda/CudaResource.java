package dev.warpwright.runtime.cuda;

import java.util.concurrent.atomic.AtomicBoolean;

/** Something on a device that has to be given back. */
abstract sealed class CudaResource implements AutoCloseable
    permits CudaBuffer, CudaEvent, CudaGraph, CudaModule, CudaStream, PinnedBuffer {
  private final CudaContext context;
  private final AtomicBoolean closed = new AtomicBoolean();

  CudaResource(CudaContext context) {
    this.context = context;
    context.add(this);
  }

  /** The context that owns this and closes it, if nobody else does. */
  public final CudaContext context() {
    return context;
  }

  /**
   * Gives this back; does nothing the second time.
   *
   * @throws dev.warpwright.base.DeviceError if the driver refuses
   */
  @Override
  public final void close() {
    if (closed.compareAndSet(false, true)) {
      context.release(this);
    }
  }

  /** {@return whether it was given back} */
  public final boolean isClosed() {
    return closed.get();
  }

  final void checkOpen() {
    if (closed.get()) {
      throw new IllegalStateException(this + " is closed");
    }
  }

  /** Checks that this and its context are open, and makes the context current. */
  public final void use() {
    checkOpen();
    context.use();
  }

  /** Destroys the driver's object; the context is current. Returns the {@code CUresult}. */
  abstract int destroy();

  /** What it is, for messages. */
  @Override
  public abstract String toString();
}
