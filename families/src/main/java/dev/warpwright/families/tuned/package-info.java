/**
 * The kernel for a GEMM: what is recorded, else what the model ranks first, and never what spills,
 * does not compile or computes wrongly.
 */
package dev.warpwright.families.tuned;
