/**
 * Memory that a compiled model reads and writes: Java arrays, {@code FloatBuffer}s, memory segments
 * and memory of a device, each with its element type.
 */
@NullMarked
package dev.warpwright.compiler.buffer;

import org.jspecify.annotations.NullMarked;
