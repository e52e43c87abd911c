/**
 * Schedules: how a {@link dev.warpwright.ir.PrimFunc} becomes a tile program without changing what
 * it computes.
 *
 * <p>{@link dev.warpwright.schedule.Schedule} is a session over one function. Each of its methods
 * is a primitive, documented as <em>before → after</em> with numbered requirements in {@code
 * dev.warpwright.schedule.primitive}; a primitive either rewrites the function into one with the
 * same meaning or throws a {@link dev.warpwright.schedule.error.ScheduleError} that names the
 * requirement and leaves the function as it was.
 *
 * <p>What the primitives rely on, and keep:
 *
 * <ul>
 *   <li>Names of blocks and of buffers are unique in a function.
 *   <li>Blocks are leaves, which contain stores; or loops around one leaf, made by {@code
 *       blockize}, which counts as part of the block then.
 *   <li>An instance of a block writes elements that no instance with other spatial variables
 *       writes, and reads such elements of its own only.
 *   <li>The order in which the reduce instances of one element are combined never changes, so
 *       neither do the bits of the result, as long as no matrix instruction is involved.
 * </ul>
 */
@NullMarked
package dev.warpwright.schedule;

import org.jspecify.annotations.NullMarked;
