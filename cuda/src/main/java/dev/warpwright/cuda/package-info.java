/**
 * CUDA C++ text of grid kernels, and nothing else writes CUDA but the intrinsic table: {@link
 * dev.warpwright.cuda.CudaPrinter} prints a {@link dev.warpwright.ir.Kernel} statement by
 * statement, so that what was verified and simulated is what runs.
 *
 * <p>How the IR appears in C++:
 *
 * <ul>
 *   <li>Buffers are flat arrays. Offsets come from the layout, simplified; they are {@code int}, or
 *       {@code long long} from the outermost coordinate on where a buffer may have 2<sup>31</sup>
 *       elements. A swizzle is applied by the function {@code swizzle}.
 *   <li>f16, bf16 and 8-bit floats are structs around their bits, converted by PTX instructions.
 *   <li>A vector is a {@code Vec}: one load or store of up to 16 bytes where alignment is certain,
 *       otherwise element by element.
 *   <li>Shared buffers are arrays, or parts of one block of memory where they share space or exceed
 *       what may be static, as {@link dev.warpwright.target.KernelResources} says.
 *   <li>Names are made from those of variables and buffers; comments from {@code Stmt.Comment}.
 * </ul>
 *
 * <p>{@code dev.warpwright.cuda.compile} compiles the text.
 */
@NullMarked
package dev.warpwright.cuda;

import org.jspecify.annotations.NullMarked;
