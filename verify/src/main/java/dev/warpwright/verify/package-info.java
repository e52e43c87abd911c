/**
 * Runs kernels, programs and compiled models in the simulator under its sanitizers: {@link
 * dev.warpwright.verify.Checks}.
 */
package dev.warpwright.verify;
