/**
 * What code is generated for: the architectures of GPUs with their limits, the processor of this
 * machine, the catalogue of devices, and where the shared memory of a kernel lies.
 */
@NullMarked
package dev.warpwright.target;

import org.jspecify.annotations.NullMarked;
