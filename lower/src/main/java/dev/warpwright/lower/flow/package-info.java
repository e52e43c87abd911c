/**
 * From tile programs with pipes and roles to kernels: {@link dev.warpwright.lower.flow.Lowering} is
 * the list of passes.
 */
@NullMarked
package dev.warpwright.lower.flow;

import org.jspecify.annotations.NullMarked;
