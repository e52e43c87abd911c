package dev.warpwright.runtime.cuda;

import dev.warpwright.runtime.call.Out;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Loaded machine code. */
public final class CudaModule extends CudaResource {
  private final long handle;
  private final int bytes;

  private CudaModule(CudaContext context, long handle, int bytes) {
    super(context);
    this.handle = handle;
    this.bytes = bytes;
  }

  static CudaModule load(CudaContext context, byte[] image) {
    context.use();
    try (Arena arena = Arena.ofConfined();
        Out out = new Out()) {
      // PTX is text: the driver reads up to a zero, which costs a cubin nothing.
      MemorySegment copy = arena.allocate(image.length + 1L, 16);
      MemorySegment.copy(image, 0, copy, ValueLayout.JAVA_BYTE, 0, image.length);
      context.check(
          ModuleCalls.load(out.address(), copy.address()),
          "cuModuleLoadDataEx of "
              + image.length
              + " bytes on "
              + context.device().name()
              + " ("
              + context.device().arch()
              + ")");
      return new CudaModule(context, out.asLong(), image.length);
    }
  }

  /**
   * {@return a kernel of this module}
   *
   * @param name as in the source, of functions that are {@code extern "C"}
   * @throws dev.warpwright.base.DeviceError if there is none of this name
   */
  public CudaFunction function(String name) {
    use();
    try (Arena arena = Arena.ofConfined();
        Out out = new Out()) {
      context()
          .check(
              ModuleCalls.function(out.address(), handle, arena.allocateFrom(name).address()),
              "cuModuleGetFunction '" + name + "'");
      return new CudaFunction(this, name, out.asLong());
    }
  }

  @Override
  int destroy() {
    return ModuleCalls.unload(handle);
  }

  @Override
  public String toString() {
    return "CUDA module of " + bytes + " bytes";
  }
}
