/** Inputs for kernels: random data for whatever a kernel takes. */
package dev.warpwright.measure.data;
