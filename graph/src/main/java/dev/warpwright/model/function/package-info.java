/**
 * From a graph to the {@link dev.warpwright.ir.PrimFunc} that computes it in a given precision, and
 * the constants it needs.
 */
@NullMarked
package dev.warpwright.model.function;

import org.jspecify.annotations.NullMarked;
