/**
 * Tuning of products on GPUs: the spaces that the {@linkplain dev.warpwright.families families} of
 * kernels span, what the analytic model expects of their points, and the worker processes that
 * measure them.
 */
package dev.warpwright.measure.tuning;
