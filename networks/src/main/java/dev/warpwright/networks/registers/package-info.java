/** Rows carried through all layers in registers, of warpgroups or of warps. */
package dev.warpwright.networks.registers;
