package dev.warpwright.jvm;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import java.lang.constant.ClassDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Compiles host kernels to bytecode. */
public final class HostCompiler {
  private static final MethodType ENTRY =
      MethodType.methodType(void.class, Frame.class, Object[].class, long[].class);

  private HostCompiler() {}

  /**
   * Compiles a kernel. Vectorized loops must have been turned into vector expressions before;
   * vectors have 64, 128, 256 or 512 bits.
   *
   * @throws UserError if a buffer has more elements than an array can hold
   * @throws IllegalArgumentException if the kernel is a grid kernel or uses what the JVM back end
   *     does not have
   */
  public static HostFunction compile(Kernel kernel) {
    if (kernel.kind() != Kernel.Kind.HOST) {
      throw new IllegalArgumentException(
          kernel.name() + " is a grid kernel; only host kernels run on the JVM");
    }
    for (Buffer buffer : kernel.buffers()) {
      checkSize(buffer);
    }
    ClassDesc self = ClassDesc.of(HostCompiler.class.getPackageName(), "Generated");
    ClassEmitter emitter = new ClassEmitter(self, kernel);
    byte[] bytes = emitter.emit();
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup().defineHiddenClass(bytes, true);
      MethodHandle entry = lookup.findStatic(lookup.lookupClass(), ClassEmitter.ENTRY, ENTRY);
      return new HostFunction(kernel, entry, emitter.scratchSlots(), emitter.vectorInstructions());
    } catch (IllegalAccessException | NoSuchMethodException e) {
      throw new IllegalStateException("cannot define the class of " + kernel.name(), e);
    }
  }

  static void checkSize(Buffer buffer) {
    if (buffer.hasConstantShape() && buffer.storageElements() > Integer.MAX_VALUE - 8) {
      throw new UserError(
          "buffer "
              + buffer.name()
              + " has "
              + buffer.storageElements()
              + " elements, the CPU back end holds at most 2^31 - 9; split the rows or the layer");
    }
  }
}
