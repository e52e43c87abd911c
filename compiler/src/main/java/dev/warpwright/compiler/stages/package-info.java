/** The stages of a network by layers and kernels: what a group of them reads, writes and moves. */
@NullMarked
package dev.warpwright.compiler.stages;

import org.jspecify.annotations.NullMarked;
