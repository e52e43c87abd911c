/**
 * Layouts: from coordinates to element offsets ({@link dev.warpwright.ir.Layout}), and from the
 * registers of threads to coordinates ({@link dev.warpwright.ir.layout.FragmentLayout}).
 */
package dev.warpwright.ir.layout;
