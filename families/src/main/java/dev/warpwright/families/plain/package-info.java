/** The GEMM that always works: one thread an element, for what no other family takes. */
package dev.warpwright.families.plain;
