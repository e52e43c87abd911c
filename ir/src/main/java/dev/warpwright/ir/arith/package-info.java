/**
 * Arithmetic on index expressions: intervals, simplification, linear forms and the regions that
 * loops touch.
 *
 * <p>{@code i32} and {@code i64} expressions are taken for index arithmetic, which does not
 * overflow (see the package documentation of the IR); other integer types wrap, and no rule here
 * assumes otherwise. A simplified expression has the same value wherever the original one has a
 * defined value.
 */
package dev.warpwright.ir.arith;
