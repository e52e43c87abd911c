/**
 * From a graph to the {@link dev.warpwright.ir.PrimFunc} that computes it in a given precision, and
 * the constants it needs.
 */
package dev.warpwright.model.function;
