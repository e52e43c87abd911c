package dev.warpwright.runtime.cuda;

import java.lang.foreign.MemorySegment;

/**
 * Two small pinned buffers through which a stream copies ordinary memory: while the device reads
 * one, the processor fills the other.
 */
final class Staging {
  static final long SLOT_BYTES = 1L << 20;

  private final CudaStream stream;
  private final PinnedBuffer[] slots = new PinnedBuffer[2];
  private final CudaEvent[] passed = new CudaEvent[2];

  Staging(CudaStream stream) {
    this.stream = stream;
    for (int i = 0; i < slots.length; i++) {
      slots[i] = PinnedBuffer.allocate(stream.context(), SLOT_BYTES);
      passed[i] = CudaEvent.create(stream.context(), false);
    }
  }

  /** Copies to the device; returns when the source has been read. */
  synchronized void toDevice(MemorySegment source, long device) {
    long size = source.byteSize();
    int slot = 0;
    for (long done = 0; done < size; done += SLOT_BYTES) {
      long chunk = Math.min(SLOT_BYTES, size - done);
      // An event that was never recorded counts as passed.
      passed[slot].synchronize();
      MemorySegment.copy(source, done, slots[slot].segment(), 0, chunk);
      stream
          .context()
          .check(
              MemoryCalls.toDevice(
                  device + done, slots[slot].address(0, chunk), chunk, stream.handle()),
              "cuMemcpyHtoDAsync");
      passed[slot].record(stream);
      slot ^= 1;
    }
  }

  /** Copies from the device; returns when the target has been written. */
  synchronized void toHost(long device, MemorySegment target) {
    long size = target.byteSize();
    long chunks = (size + SLOT_BYTES - 1) / SLOT_BYTES;
    // One chunk ahead: while the device fills a slot, the other one is emptied.
    for (long step = 0; step <= chunks; step++) {
      if (step < chunks) {
        enqueue(device, step, size);
      }
      if (step > 0) {
        long done = (step - 1) * SLOT_BYTES;
        int slot = (int) ((step - 1) & 1);
        passed[slot].synchronize();
        MemorySegment.copy(
            slots[slot].segment(), 0, target, done, Math.min(SLOT_BYTES, size - done));
      }
    }
  }

  private void enqueue(long device, long step, long size) {
    long start = step * SLOT_BYTES;
    long chunk = Math.min(SLOT_BYTES, size - start);
    int slot = (int) (step & 1);
    stream
        .context()
        .check(
            MemoryCalls.toHost(
                slots[slot].address(0, chunk), device + start, chunk, stream.handle()),
            "cuMemcpyDtoHAsync");
    passed[slot].record(stream);
  }

  void close() {
    for (int i = 0; i < slots.length; i++) {
      slots[i].close();
      passed[i].close();
    }
  }
}
