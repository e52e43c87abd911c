/**
 * A kernel for each layer: GEMMs of the families, and simple kernels for what they do not compute.
 */
@NullMarked
package dev.warpwright.networks.layers;

import org.jspecify.annotations.NullMarked;
