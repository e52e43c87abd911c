package dev.warpwright.runtime.cuda;

import dev.warpwright.runtime.call.Out;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Host memory that stays where it is, so that the device copies from and to it while the processor
 * does something else.
 */
public final class PinnedBuffer extends CudaResource {
  /** {@code CU_MEMHOSTALLOC_PORTABLE} and {@code CU_MEMHOSTALLOC_DEVICEMAP}. */
  private static final int PORTABLE_AND_MAPPED = 3;

  private final long pointer;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment segment;

  private PinnedBuffer(CudaContext context, long pointer, long bytes) {
    super(context);
    this.pointer = pointer;
    this.segment = MemorySegment.ofAddress(pointer).reinterpret(bytes, arena, null);
  }

  static PinnedBuffer allocate(CudaContext context, long bytes) {
    CudaBuffer.checkSize(bytes);
    context.use();
    try (Out out = new Out()) {
      context.check(
          MemoryCalls.allocateHost(out.address(), bytes, PORTABLE_AND_MAPPED),
          "cuMemHostAlloc of " + bytes + " bytes");
      return new PinnedBuffer(context, out.asLong(), bytes);
    }
  }

  /** {@return the memory; access after {@link #close} throws {@link IllegalStateException}} */
  public MemorySegment segment() {
    return segment;
  }

  /** {@return how many bytes it is long} */
  public long bytes() {
    return segment.byteSize();
  }

  /**
   * {@return this memory as kernels see it, which read and write it over the bus; closing that
   * frees nothing} It has the same address there (CUDA Driver API, <em>Unified Addressing</em>).
   * What the processor writes before a launch the kernels see, and what they write it sees once the
   * stream was waited for.
   */
  public CudaBuffer onDevice() {
    return CudaBuffer.of(this, address(0, bytes()));
  }

  /** The address of a range of this memory. */
  long address(long offset, long bytes) {
    checkOpen();
    java.util.Objects.checkFromIndexSize(offset, bytes, bytes());
    return pointer + offset;
  }

  @Override
  int destroy() {
    arena.close();
    return MemoryCalls.freeHost(pointer);
  }

  @Override
  public String toString() {
    return "pinned buffer of " + bytes() + " bytes";
  }
}
