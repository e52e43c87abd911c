/** Compiled kernels and the {@link dev.warpwright.ir.Program} that links them. */
package dev.warpwright.compiler.program;
