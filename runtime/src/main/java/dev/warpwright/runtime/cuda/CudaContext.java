package dev.warpwright.runtime.cuda;

import dev.warpwright.base.DeviceError;
import dev.warpwright.runtime.call.Out;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A device, ready for work: the owner of all that is made on it.
 *
 * <p>This is the device's primary context, which other libraries in the process (cuBLAS, say) use
 * too.
 */
public final class CudaContext implements AutoCloseable {
  private final CudaDevice device;
  private final long handle;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Set<CudaResource> resources = new LinkedHashSet<>();
  private volatile boolean lost;

  private CudaContext(CudaDevice device, long handle) {
    this.device = device;
    this.handle = handle;
  }

  static CudaContext open(CudaDevice device) {
    try (Out out = new Out()) {
      CudaError.check(
          DeviceCalls.retainPrimaryContext(out.address(), device.handle()),
          "cuDevicePrimaryCtxRetain");
      return new CudaContext(device, out.asLong());
    }
  }

  /** {@return the device whose context it is} */
  public CudaDevice device() {
    return device;
  }

  /**
   * Allocates device memory. Its content is whatever was there before.
   *
   * @param bytes at least 1
   * @return the memory, to be closed
   * @throws DeviceError if there is not enough
   */
  public CudaBuffer allocate(long bytes) {
    return CudaBuffer.allocate(this, bytes);
  }

  /**
   * Allocates host memory that the device can copy from and to without the processor.
   *
   * @param bytes at least 1
   * @return the memory, to be closed
   */
  public PinnedBuffer allocatePinned(long bytes) {
    return PinnedBuffer.allocate(this, bytes);
  }

  /**
   * Loads a cubin or PTX.
   *
   * @param image all bytes of the file
   * @return the module, to be closed
   * @throws DeviceError if it is not for this device
   */
  public CudaModule load(byte[] image) {
    return CudaModule.load(this, image);
  }

  /** {@return a new stream that waits for no other one, to be closed} */
  public CudaStream newStream() {
    return CudaStream.create(this);
  }

  /**
   * {@return a stream that another library made on this device's primary context; closing it waits
   * for its work and leaves it alive}
   *
   * @param handle its {@code CUstream} or {@code cudaStream_t}
   * @throws dev.warpwright.base.UserError if it is 0, the default stream
   */
  public CudaStream stream(long handle) {
    return CudaStream.of(this, handle);
  }

  /** {@return a new event that carries a time, to be closed} */
  public CudaEvent newEvent() {
    return CudaEvent.create(this, true);
  }

  /** Waits for all work given so far, on every stream, and reports its failure. */
  public void synchronize() {
    use();
    check(DeviceCalls.synchronize(), "cuCtxSynchronize");
  }

  /** {@return bytes of device memory that are free now} */
  public long freeBytes() {
    use();
    try (Out free = new Out();
        Out total = new Out()) {
      check(DeviceCalls.memoryInfo(free.address(), total.address()), "cuMemGetInfo");
      return free.asLong();
    }
  }

  /**
   * {@return whether a kernel's fault has made the context unusable: only closing it makes sense}
   */
  public boolean isLost() {
    return lost;
  }

  /**
   * Makes this context the calling thread's. Every call does, for neither the thread nor what else
   * runs on it is ours.
   */
  void use() {
    if (closed.get()) {
      throw new IllegalStateException("the CUDA context of " + device.name() + " is closed");
    }
    int status = DeviceCalls.setCurrent(handle);
    if (status != CudaError.SUCCESS) {
      check(status, "cuCtxSetCurrent");
    }
  }

  void check(int status, String call) {
    if (status != CudaError.SUCCESS) {
      lost |= CudaError.isSticky(status);
      CudaError.check(status, call);
    }
  }

  void add(CudaResource resource) {
    synchronized (resources) {
      resources.add(resource);
    }
  }

  /** Ends a resource's life on the device. */
  void release(CudaResource resource) {
    synchronized (resources) {
      resources.remove(resource);
    }
    if (closed.get()) {
      return;
    }
    boolean reported = lost;
    int status = DeviceCalls.setCurrent(handle);
    if (status == CudaError.SUCCESS) {
      status = resource.destroy();
    }
    // After a fault that was reported, every call fails in the same way; saying so again would hide
    // the first report.
    if (!(reported && CudaError.isSticky(status)) && status != CudaError.DEINITIALIZED) {
      check(status, "closing " + resource);
    }
  }

  /**
   * Waits for the device, closes what was made here, youngest first, and releases the device. Does
   * nothing the second time.
   *
   * @throws DeviceError if work on the device had failed and nothing reported it before
   */
  @Override
  public void close() {
    if (closed.get()) {
      return;
    }
    List<CudaResource> rest;
    synchronized (resources) {
      rest = new ArrayList<>(resources).reversed();
    }
    DeviceError failure = null;
    boolean reported = lost;
    try {
      synchronize();
    } catch (DeviceError e) {
      failure = reported ? null : e;
    }
    for (CudaResource resource : rest) {
      try {
        resource.close();
      } catch (DeviceError e) {
        failure = failure == null ? e : failure;
      }
    }
    if (closed.compareAndSet(false, true)) {
      int status = DeviceCalls.releasePrimaryContext(device.handle());
      if (failure == null && !lost && status != CudaError.DEINITIALIZED) {
        CudaError.check(status, "cuDevicePrimaryCtxRelease");
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
