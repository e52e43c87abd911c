/** Inputs for kernels: random data for whatever a kernel takes. */
@NullMarked
package dev.warpwright.measure.data;

import org.jspecify.annotations.NullMarked;
