/**
 * NumPy array files (.npy): {@link dev.warpwright.model.npy.NpyFile} reads versions 1 to 3 and
 * writes version 1.
 */
package dev.warpwright.model.npy;
