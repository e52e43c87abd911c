/**
 * A kernel for each layer: GEMMs of the families, and simple kernels for what they do not compute.
 */
package dev.warpwright.networks.layers;
