package dev.warpwright.runtime.cuda;

import dev.warpwright.runtime.call.Out;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/** Device memory. All work on it is given to a stream and runs there in order. */
public final class CudaBuffer extends CudaResource {
  private final long address;
  private final long bytes;
  private final boolean owned;

  private CudaBuffer(CudaContext context, long address, long bytes, boolean owned) {
    super(context);
    this.address = address;
    this.bytes = bytes;
    this.owned = owned;
  }

  static CudaBuffer allocate(CudaContext context, long bytes) {
    checkSize(bytes);
    context.use();
    try (Out out = new Out()) {
      context.check(
          MemoryCalls.allocate(out.address(), bytes), "cuMemAlloc of " + bytes + " bytes");
      return new CudaBuffer(context, out.asLong(), bytes, true);
    }
  }

  /** Pinned memory, by its address on the device. */
  static CudaBuffer of(PinnedBuffer pinned, long address) {
    return new CudaBuffer(pinned.context(), address, pinned.bytes(), false);
  }

  static void checkSize(long bytes) {
    if (bytes <= 0) {
      throw new IllegalArgumentException("a buffer of " + bytes + " bytes cannot be allocated");
    }
  }

  /** {@return how many bytes it is long} */
  public long bytes() {
    return bytes;
  }

  /**
   * {@return a part of this memory, for what takes a buffer; closing it frees nothing}
   *
   * @param offset of its first byte
   * @param length bytes, so that it ends inside this memory
   */
  public CudaBuffer slice(long offset, long length) {
    Objects.checkFromIndexSize(offset, length, bytes);
    return new CudaBuffer(context(), address() + offset, length, false);
  }

  /** {@return the device's address of the first byte; a multiple of 256, but of a part} */
  public long address() {
    checkOpen();
    return address;
  }

  /**
   * Fills all of it with one byte: what a kernel then fails to write can be seen.
   *
   * @param value of each byte
   * @param stream in whose order it happens
   */
  public void poison(byte value, CudaStream stream) {
    use();
    stream.touch(this);
    context()
        .check(MemoryCalls.fillBytes(address, value, bytes, stream.handle()), "cuMemsetD8Async");
  }

  /**
   * Copies host memory to the start of this buffer. When it returns, the source has been read; the
   * copy itself runs in the stream's order. Must not be captured into a graph.
   *
   * @param source on or off the Java heap, at most {@link #bytes} long
   * @param stream in whose order it happens
   */
  public void copyFrom(MemorySegment source, CudaStream stream) {
    copyFrom(source, 0, stream);
  }

  /**
   * {@link #copyFrom(MemorySegment, CudaStream)} to {@code offset} bytes behind the start.
   *
   * @param source on or off the Java heap
   * @param offset bytes from the start of this buffer
   * @param stream in whose order it happens
   */
  public void copyFrom(MemorySegment source, long offset, CudaStream stream) {
    use();
    Objects.checkFromIndexSize(offset, source.byteSize(), bytes);
    stream.staging().toDevice(source, address + offset);
  }

  /**
   * {@link #copyFrom(MemorySegment, CudaStream)} of an array.
   *
   * @param source at most {@link #bytes} long
   * @param stream in whose order it happens
   */
  public void copyFrom(float[] source, CudaStream stream) {
    copyFrom(MemorySegment.ofArray(source), stream);
  }

  /**
   * Copies the start of this buffer to host memory, after all earlier work of the stream, and waits
   * for it. Must not be captured into a graph.
   *
   * @param target on or off the Java heap, at most {@link #bytes} long
   * @param stream that is waited for
   */
  public void copyTo(MemorySegment target, CudaStream stream) {
    copyTo(target, 0, stream);
  }

  /**
   * {@link #copyTo(MemorySegment, CudaStream)} from {@code offset} bytes behind the start.
   *
   * @param target on or off the Java heap
   * @param offset bytes from the start of this buffer
   * @param stream that is waited for
   */
  public void copyTo(MemorySegment target, long offset, CudaStream stream) {
    use();
    Objects.checkFromIndexSize(offset, target.byteSize(), bytes);
    stream.staging().toHost(address + offset, target);
  }

  /**
   * {@link #copyTo(MemorySegment, CudaStream)} to an array.
   *
   * @param target at most {@link #bytes} long
   * @param stream that is waited for
   */
  public void copyTo(float[] target, CudaStream stream) {
    copyTo(MemorySegment.ofArray(target), stream);
  }

  /**
   * {@return all of this buffer as floats; bytes that fill no float at the end are left out}
   *
   * @param stream that is waited for
   */
  public float[] toFloats(CudaStream stream) {
    float[] floats = new float[Math.toIntExact(bytes / ValueLayout.JAVA_FLOAT.byteSize())];
    copyTo(floats, stream);
    return floats;
  }

  /**
   * Copies from pinned memory without waiting. The source must stay as it is until the stream has
   * come to it.
   *
   * @param source at least {@code bytes} long
   * @param bytes to copy, from the start of the source to the start of this buffer
   * @param stream in whose order it happens
   */
  public void copyFrom(PinnedBuffer source, long bytes, CudaStream stream) {
    use();
    Objects.checkFromIndexSize(0, bytes, this.bytes);
    long from = source.address(0, bytes);
    stream.touch(this);
    stream.touch(source);
    context()
        .check(MemoryCalls.toDevice(address, from, bytes, stream.handle()), "cuMemcpyHtoDAsync");
  }

  /**
   * Copies to pinned memory without waiting. The target holds the data once the stream has come to
   * it.
   *
   * @param target at least {@code bytes} long
   * @param bytes to copy, from the start of this buffer to the start of the target
   * @param stream in whose order it happens
   */
  public void copyTo(PinnedBuffer target, long bytes, CudaStream stream) {
    use();
    Objects.checkFromIndexSize(0, bytes, this.bytes);
    long to = target.address(0, bytes);
    stream.touch(this);
    stream.touch(target);
    context().check(MemoryCalls.toHost(to, address, bytes, stream.handle()), "cuMemcpyDtoHAsync");
  }

  /**
   * Copies all of another buffer of this device to the start of this one.
   *
   * @param source at most as long as this buffer
   * @param stream in whose order it happens
   */
  public void copyFrom(CudaBuffer source, CudaStream stream) {
    copyFrom(source, source.bytes, stream);
  }

  /**
   * Copies the start of another buffer of this device to the start of this one, without waiting.
   *
   * @param source at least {@code bytes} long
   * @param bytes to copy
   * @param stream in whose order it happens
   */
  public void copyFrom(CudaBuffer source, long bytes, CudaStream stream) {
    use();
    Objects.checkFromIndexSize(0, bytes, this.bytes);
    Objects.checkFromIndexSize(0, bytes, source.bytes);
    stream.touch(this);
    stream.touch(source);
    context()
        .check(
            MemoryCalls.onDevice(address, source.address(), bytes, stream.handle()),
            "cuMemcpyDtoDAsync");
  }

  @Override
  int destroy() {
    return owned ? MemoryCalls.free(address) : CudaError.SUCCESS;
  }

  @Override
  public String toString() {
    return "device buffer of " + bytes + " bytes";
  }
}
