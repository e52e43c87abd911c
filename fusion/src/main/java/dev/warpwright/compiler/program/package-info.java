/** Compiled kernels and the {@link dev.warpwright.ir.Program} that links them. */
@NullMarked
package dev.warpwright.compiler.program;

import org.jspecify.annotations.NullMarked;
