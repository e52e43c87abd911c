/**
 * The executable meaning of the IR, for tests, references and checks.
 *
 * <ul>
 *   <li>{@link dev.warpwright.sim.Interpreter} runs PrimFuncs, tile programs and host kernels, bit
 *       for bit as the IR says or in double precision.
 *   <li>{@link dev.warpwright.sim.GridInterpreter} runs grid kernels thread by thread, in lockstep
 *       within a warp, with the units of Hopper that work beside them, and reports races, misuse of
 *       barriers, missing fences, deadlocks, out-of-bounds, misaligned and uninitialised accesses.
 *   <li>{@link dev.warpwright.sim.ProgramInterpreter} runs the steps of a Program with either.
 *   <li>{@link dev.warpwright.sim.NdArray} holds the data, {@link dev.warpwright.sim.Arguments}
 *       binds it to parameters, {@link dev.warpwright.sim.Verification} compares it.
 * </ul>
 *
 * <p>This is the top of the module. Below, each knowing only those before it: {@code api} (what
 * results are made of), {@code finding}, {@code memory} (with races), {@code counter}, {@code
 * expr}, {@code interpret} (the reference), {@code block} (a grid in execution), {@code call}
 * (intrinsics), {@code lane} and {@code region} (bytecode), {@code grid}.
 */
@NullMarked
package dev.warpwright.sim;

import org.jspecify.annotations.NullMarked;
