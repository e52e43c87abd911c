/** The stages of a network: which read which, which share a kernel, what is moved between them. */
@NullMarked
package dev.warpwright.networks.stages;

import org.jspecify.annotations.NullMarked;
