/** Kernel families of whole networks: what carries activations from layer to layer, and where. */
@NullMarked
package dev.warpwright.networks;

import org.jspecify.annotations.NullMarked;
