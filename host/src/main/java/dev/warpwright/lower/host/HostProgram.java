package dev.warpwright.lower.host;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Layout;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A host kernel and the constants that it wants in another form. Its parameters stand in the order
 * of the program that it was lowered from.
 *
 * @param packed a constant of that program to its form in the kernel
 */
public record HostProgram(Kernel kernel, Map<Buffer, Packed> packed) {
  /**
   * Another form of a constant.
   *
   * @param buffer the kernel's parameter
   * @param where coordinates of the original to the element offset in {@code buffer}; elements that
   *     no coordinate maps to are zero
   */
  public record Packed(Buffer buffer, Layout where) {}

  public HostProgram {
    packed = Collections.unmodifiableMap(new LinkedHashMap<>(packed));
  }
}
