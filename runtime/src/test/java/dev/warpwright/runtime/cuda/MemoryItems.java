package dev.warpwright.runtime.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** Memory, copies and lifetimes. */
final class MemoryItems extends SelfTestItems {
  MemoryItems(SelfTestBench bench) {
    super(bench);
  }

  @Override
  Map<String, Item> items() {
    Map<String, Item> items = new LinkedHashMap<>();
    items.put("poison", this::poison);
    items.put("copies of ordinary memory", this::copies);
    items.put("copies of pinned memory and on the device", this::pinned);
    items.put("closed means closed", this::lifetimes);
    items.put("events", this::events);
    return items;
  }

  private String poison() {
    try (CudaBuffer buffer = context.allocate(1003)) {
      buffer.poison((byte) 0xa5, stream);
      byte[] bytes = new byte[1003];
      buffer.copyTo(MemorySegment.ofArray(bytes), stream);
      for (int i = 0; i < bytes.length; i++) {
        equal(0xa5, Byte.toUnsignedInt(bytes[i]), "byte " + i);
      }
    }
    return "1003 bytes";
  }

  private String copies() {
    long[] sizes = {
      1,
      3,
      4096,
      Staging.SLOT_BYTES - 1,
      Staging.SLOT_BYTES,
      Staging.SLOT_BYTES + 1,
      2 * Staging.SLOT_BYTES,
      5 * Staging.SLOT_BYTES + 12
    };
    for (long size : sizes) {
      byte[] source = new byte[(int) size];
      random.nextBytes(source);
      try (CudaBuffer buffer = context.allocate(size + 7);
          Arena arena = Arena.ofConfined()) {
        buffer.poison((byte) 1, stream);
        buffer.copyFrom(MemorySegment.ofArray(source), 7, stream);
        MemorySegment target = arena.allocate(size);
        buffer.copyTo(target, 7, stream);
        check(Arrays.equals(source, target.toArray(ValueLayout.JAVA_BYTE)), "size " + size);
      }
    }
    int bytes = 256 << 20;
    byte[] large = new byte[bytes];
    try (CudaBuffer buffer = context.allocate(bytes)) {
      long start = System.nanoTime();
      buffer.copyFrom(MemorySegment.ofArray(large), stream);
      stream.synchronize();
      double up = bytes / (double) (System.nanoTime() - start);
      start = System.nanoTime();
      buffer.copyTo(MemorySegment.ofArray(large), stream);
      double down = bytes / (double) (System.nanoTime() - start);
      return String.format(Locale.ROOT, "up %.1f GB/s, down %.1f GB/s", up, down);
    }
  }

  private String pinned() {
    int bytes = 64 << 20;
    try (PinnedBuffer from = context.allocatePinned(bytes);
        PinnedBuffer to = context.allocatePinned(bytes);
        CudaBuffer a = context.allocate(bytes);
        CudaBuffer b = context.allocate(bytes)) {
      for (int i = 0; i < bytes / 8; i++) {
        from.segment().setAtIndex(ValueLayout.JAVA_LONG, i, random.nextLong());
      }
      to.segment().fill((byte) 7);
      long start = System.nanoTime();
      a.copyFrom(from, bytes, stream);
      stream.synchronize();
      double up = bytes / (double) (System.nanoTime() - start);
      b.copyFrom(a, stream);
      b.copyTo(to, bytes, stream);
      stream.synchronize();
      equal(-1L, from.segment().mismatch(to.segment()), "first difference");
      return String.format(Locale.ROOT, "up %.1f GB/s", up);
    }
  }

  private String lifetimes() {
    CudaBuffer buffer = context.allocate(64);
    CudaModule module = module();
    CudaLaunch launch =
        new CudaLaunch(
            module.function("empty"),
            LaunchConfig.of(1, 32),
            KernelArgument.of(buffer),
            KernelArgument.of(1),
            KernelArgument.of(1f));
    launch.run(stream);
    CudaGraph graph = CudaGraph.capture(stream, () -> launch.run(stream));
    graph.replay(stream);
    stream.synchronize();
    buffer.close();
    buffer.close();
    fails(IllegalStateException.class, "buffer of 64 bytes is closed", () -> launch.run(stream));
    fails(IllegalStateException.class, "buffer of 64 bytes is closed", () -> graph.replay(stream));
    fails(IllegalStateException.class, "is closed", () -> buffer.poison((byte) 0, stream));
    module.close();
    fails(IllegalStateException.class, "module", () -> launch.run(stream));
    graph.close();
    fails(IllegalStateException.class, "graph is closed", () -> graph.replay(stream));
    PinnedBuffer pinned = context.allocatePinned(64);
    pinned.close();
    fails(
        IllegalStateException.class,
        "closed",
        () -> pinned.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 1));
    CudaContext second = context.device().open();
    CudaBuffer forgotten = second.allocate(64);
    second.close();
    second.close();
    forgotten.close();
    fails(IllegalStateException.class, "context", () -> second.allocate(64));
    return "7 kinds";
  }

  private String events() {
    long bytes = 256L << 20;
    try (CudaEvent start = context.newEvent();
        CudaEvent end = context.newEvent();
        CudaStream other = context.newStream();
        CudaBuffer a = context.allocate(bytes);
        CudaBuffer b = context.allocate(bytes)) {
      b.copyFrom(a, stream);
      start.record(stream);
      b.copyFrom(a, stream);
      end.record(stream);
      other.waitFor(end);
      other.synchronize();
      check(stream.isDone(), "stream done");
      float millis = end.millisSince(start);
      double rate = 2 * bytes / (millis * 1e6);
      check(rate > 10 && rate < 20_000, rate + " GB/s");
      return String.format(Locale.ROOT, "device copy %.0f GB/s, read and write", rate);
    }
  }
}
