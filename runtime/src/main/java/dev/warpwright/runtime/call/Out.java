package dev.warpwright.runtime.call;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory for one result that a driver function writes through a pointer. */
public final class Out implements AutoCloseable {
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment memory = arena.allocate(JAVA_LONG.byteSize(), 8);

  public long address() {
    return memory.address();
  }

  public long asLong() {
    return memory.get(JAVA_LONG, 0);
  }

  public int asInt() {
    return memory.get(JAVA_INT, 0);
  }

  public float asFloat() {
    return memory.get(JAVA_FLOAT, 0);
  }

  @Override
  public void close() {
    arena.close();
  }
}
