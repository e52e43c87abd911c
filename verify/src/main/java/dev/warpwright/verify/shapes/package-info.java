/**
 * GEMMs that nobody has prepared: {@link dev.warpwright.verify.shapes.RandomGemm} draws them,
 * {@link dev.warpwright.verify.shapes.ReducedGemm} makes the configuration of each run in the
 * simulator.
 */
package dev.warpwright.verify.shapes;
