/** Rows carried through all layers in registers, of warpgroups or of warps. */
@NullMarked
package dev.warpwright.networks.registers;

import org.jspecify.annotations.NullMarked;
