/**
 * What workloads cost on the devices of the catalogue, before anything is compiled: the roofline,
 * waves of tiles and their tail, bytes between device memory, L2 and SMs.
 *
 * <p>Units: bytes, operations (a multiply-add is two), microseconds. A <em>bound</em> is what
 * nothing can beat; a <em>prediction</em> is a model's, with the error that {@code docs/benchmarks}
 * states.
 */
package dev.warpwright.perf.analyze;
