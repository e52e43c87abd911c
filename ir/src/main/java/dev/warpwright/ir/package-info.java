/**
 * The intermediate representation: types, expressions, statements, buffers, and the three things
 * made of them, {@link dev.warpwright.ir.PrimFunc} (what is computed, and once scheduled the tile
 * program), {@link dev.warpwright.ir.Kernel} (what runs) and {@link dev.warpwright.ir.Program}
 * (which kernels run on which buffers).
 *
 * <h2>Meaning, stated once</h2>
 *
 * <ul>
 *   <li><b>Integers</b> wrap modulo 2<sup>bits</sup>. Division rounds toward minus infinity and the
 *       remainder has the sign of the divisor; division by zero is undefined. Index arithmetic is
 *       {@code i32} and must not overflow; where a buffer has 2<sup>31</sup> elements or more, back
 *       ends compute offsets in 64 bits.
 *   <li><b>Floats</b> round to nearest, ties to even, after every operation; subnormals are kept. A
 *       multiply and an add are fused only where {@link dev.warpwright.ir.MathOp#FMA} says so.
 *       Arithmetic on f16, bf16 and f8 is not defined: such values are cast to f32 first (loads,
 *       stores, casts, selects and bitcasts are).
 *   <li><b>Casts</b>: to a float rounds to nearest even (to f8 saturating); a float to an integer
 *       truncates toward zero and saturates; between integers wraps; to bool is {@code != 0}.
 *   <li><b>Order</b>: statements in order, operands in any order. {@code &&} and {@code ||} may
 *       evaluate both sides; of a {@code select} only the chosen side's loads happen.
 *   <li><b>Out of bounds</b> access is an error, except in {@link dev.warpwright.ir.Stmt.TileCopy}.
 * </ul>
 */
@NullMarked
package dev.warpwright.ir;

import org.jspecify.annotations.NullMarked;
