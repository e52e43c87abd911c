package dev.warpwright.parallel.nccl;

import dev.warpwright.ir.type.DType;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaStream;
import java.util.List;

/** One process, several GPUs: what joins them for sums. One thread gives the work of all. */
public final class Communicators implements AutoCloseable {
  private final NcclLibrary library;
  private final long[] handles;
  private boolean closed;

  private Communicators(NcclLibrary library, long[] handles) {
    this.library = library;
    this.handles = handles;
  }

  /**
   * Joins devices.
   *
   * @param devices whose primary contexts are open
   * @throws dev.warpwright.base.DeviceError if NCCL refuses
   */
  public static Communicators open(NcclLibrary library, List<CudaContext> devices) {
    int[] ordinals = devices.stream().mapToInt(context -> context.device().ordinal()).toArray();
    return new Communicators(library, library.communicators(ordinals));
  }

  /**
   * Adds buffers over the devices, in place, when the streams come to it. May be captured into
   * graphs.
   *
   * @param buffers of the devices, in their order
   * @param elements of each, from its start
   * @param streams of the devices
   */
  public void sum(List<CudaBuffer> buffers, long elements, DType type, List<CudaStream> streams) {
    if (closed) {
      throw new IllegalStateException("the communicators are closed");
    }
    int code = code(type);
    library.startGroup();
    try {
      for (int i = 0; i < handles.length; i++) {
        library.allReduce(
            buffers.get(i).address(), elements, code, handles[i], streams.get(i).handle());
      }
    } finally {
      library.endGroup();
    }
  }

  private static int code(DType type) {
    return switch (type) {
      case F16 -> 6;
      case F32 -> 7;
      case F64 -> 8;
      case BF16 -> 9;
      case BOOL, I8, U8, I32, U32, I64, U64, F8E4M3, F8E5M2, MBARRIER, HANDLE ->
          throw new IllegalArgumentException(type + " is not added over devices");
    };
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      for (long handle : handles) {
        library.destroy(handle);
      }
    }
  }
}
