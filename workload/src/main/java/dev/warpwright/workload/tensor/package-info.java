/**
 * Tensor expressions and the operators of networks, and how they become a {@link
 * dev.warpwright.ir.PrimFunc}.
 */
@NullMarked
package dev.warpwright.workload.tensor;

import org.jspecify.annotations.NullMarked;
