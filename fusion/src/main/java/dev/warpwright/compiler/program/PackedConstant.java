package dev.warpwright.compiler.program;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Layout;
import dev.warpwright.model.function.Constant;
import org.jspecify.annotations.Nullable;

/**
 * A constant in the form that a program's kernels want.
 *
 * @param buffer the program's parameter
 * @param where coordinates of the constant to the element offset in {@code buffer}, null for
 *     row-major; elements that no coordinate maps to are zero
 */
public record PackedConstant(Buffer buffer, @Nullable Layout where, Constant constant) {
  /** As the network's function has it. */
  public static PackedConstant plain(Constant constant) {
    return new PackedConstant(constant.buffer(), null, constant);
  }
}
