/** Kernel families of whole networks: what carries activations from layer to layer, and where. */
package dev.warpwright.networks;
