package dev.warpwright.compiler.buffer;

import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaStream;
import org.jspecify.annotations.Nullable;

/**
 * A queue of calls that a device makes in order, while the caller goes on: on a GPU a CUDA stream,
 * ours or the caller's; on the CPU each call is done when it returns.
 *
 * <pre>{@code
 * try (DeviceStream stream = device.newStream()) {
 *   x.copyFrom(MemorySegment.ofArray(rows), stream);
 *   encoder.enqueue(stream, 16, x, h);
 *   head.enqueue(stream, 16, h, y); // begins when h is filled
 *   y.copyTo(MemorySegment.ofArray(scores), stream); // waits
 * }
 * }</pre>
 *
 * <p>For one thread at a time; calls on several streams may overlap.
 */
public final class DeviceStream implements AutoCloseable {
  private final @Nullable CudaStream cuda;
  private volatile boolean closed;

  private DeviceStream(@Nullable CudaStream cuda) {
    this.cuda = cuda;
  }

  /**
   * {@return a new stream of a GPU, which orders nothing with other streams, the default one
   * neither}
   *
   * @param context of the GPU
   */
  public static DeviceStream onGpu(CudaContext context) {
    return new DeviceStream(context.newStream());
  }

  /**
   * {@return a stream that somebody else made, to be ordered with their work; they keep it open as
   * long as this is, and destroy it}
   *
   * @param context of the GPU, on which the stream is
   * @param handle the driver's {@code CUstream} or the runtime's {@code cudaStream_t}
   * @throws dev.warpwright.base.UserError if it is 0, the default stream, which no graph can be
   *     captured on
   */
  public static DeviceStream onGpu(CudaContext context, long handle) {
    return new DeviceStream(context.stream(handle));
  }

  /** {@return the order in which the host makes calls} */
  public static DeviceStream onHost() {
    return new DeviceStream(null);
  }

  /**
   * {@return the GPU's stream; null where the device is no GPU}
   *
   * @throws IllegalStateException if this is closed
   */
  public @Nullable CudaStream cuda() {
    if (closed) {
      throw new IllegalStateException("the stream is closed");
    }
    return cuda;
  }

  /** {@return whether it is closed} */
  public boolean isClosed() {
    return closed;
  }

  /**
   * Waits for all calls so far.
   *
   * @throws dev.warpwright.base.DeviceError if one of them failed
   * @throws IllegalStateException if this is closed
   */
  public void synchronize() {
    CudaStream stream = cuda();
    if (stream != null) {
      stream.synchronize();
    }
  }

  /**
   * {@return whether all calls so far are done}
   *
   * @throws dev.warpwright.base.DeviceError if one of them failed
   * @throws IllegalStateException if this is closed
   */
  public boolean isDone() {
    CudaStream stream = cuda();
    return stream == null || stream.isDone();
  }

  /** Waits for all calls so far; does nothing the second time. */
  @Override
  public void close() {
    closed = true;
    if (cuda != null) {
      cuda.close();
    }
  }

  @Override
  public String toString() {
    return cuda == null ? "stream of the host" : cuda.toString();
  }
}
