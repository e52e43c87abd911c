/**
 * What is computed: GEMMs, their batches, epilogues and arithmetic, whatever kernel computes it.
 */
@NullMarked
package dev.warpwright.workload;

import org.jspecify.annotations.NullMarked;
