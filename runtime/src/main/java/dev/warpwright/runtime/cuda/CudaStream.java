package dev.warpwright.runtime.cuda;

import dev.warpwright.base.UserError;
import dev.warpwright.runtime.call.Out;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A queue of work that the device does in order. */
public final class CudaStream extends CudaResource {
  private static final int NON_BLOCKING = 1;

  private final long handle;
  private final boolean owned;
  private @Nullable Staging staging;

  /** What the work that is being captured uses; null outside a capture. */
  private @Nullable Set<CudaResource> captured;

  private CudaStream(CudaContext context, long handle, boolean owned) {
    super(context);
    this.handle = handle;
    this.owned = owned;
  }

  static CudaStream create(CudaContext context) {
    context.use();
    try (Out out = new Out()) {
      context.check(StreamCalls.create(out.address(), NON_BLOCKING), "cuStreamCreate");
      return new CudaStream(context, out.asLong(), true);
    }
  }

  static CudaStream of(CudaContext context, long handle) {
    if (handle == 0) {
      throw new UserError(
          "the default stream (0) takes no graph; make a stream of your own and pass its handle");
    }
    context.use();
    return new CudaStream(context, handle, false);
  }

  /** Waits for all work given so far and reports its failure. */
  public void synchronize() {
    use();
    context().check(StreamCalls.synchronize(handle), "cuStreamSynchronize");
  }

  /** {@return whether all work given so far is done} */
  public boolean isDone() {
    use();
    int status = StreamCalls.query(handle);
    if (status == CudaError.NOT_READY) {
      return false;
    }
    context().check(status, "cuStreamQuery");
    return true;
  }

  /**
   * Lets later work of this stream wait for an event of another one.
   *
   * @param event of the same context; one that was never recorded is not waited for
   */
  public void waitFor(CudaEvent event) {
    use();
    context().check(StreamCalls.waitEvent(handle, event.handle()), "cuStreamWaitEvent");
  }

  /** {@return the driver's {@code CUstream}} */
  public long handle() {
    checkOpen();
    return handle;
  }

  synchronized Staging staging() {
    if (captured != null) {
      throw new IllegalStateException("a copy of ordinary host memory cannot be captured");
    }
    Staging made = staging;
    if (made == null) {
      made = new Staging(this);
      staging = made;
    }
    return made;
  }

  /**
   * Notes that the work that is being captured uses a resource.
   *
   * @param resource kept open by the graph's user
   */
  public void touch(CudaResource resource) {
    Set<CudaResource> touched = captured;
    if (touched != null) {
      touched.add(resource);
    }
  }

  void beginCapture() {
    if (captured != null) {
      throw new IllegalStateException(this + " is being captured already");
    }
    captured = new LinkedHashSet<>();
  }

  /** The resources that the captured work uses so far. */
  Set<CudaResource> captured() {
    return captured == null ? Set.of() : Set.copyOf(captured);
  }

  void endCapture() {
    captured = null;
  }

  @Override
  int destroy() {
    // The device may still read the staging memory.
    int status = StreamCalls.synchronize(handle);
    Staging made = staging;
    if (made != null) {
      made.close();
    }
    int destroyed = owned ? StreamCalls.destroy(handle) : CudaError.SUCCESS;
    return status != CudaError.SUCCESS ? status : destroyed;
  }

  @Override
  public String toString() {
    return "CUDA stream";
  }
}
