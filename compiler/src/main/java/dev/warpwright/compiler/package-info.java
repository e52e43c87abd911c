/**
 * The public Java API: {@link dev.warpwright.compiler.Warpwright} loads models, a {@link
 * dev.warpwright.compiler.Device} compiles and runs them. This is the one layer that puts the
 * others together.
 */
@NullMarked
package dev.warpwright.compiler;

import org.jspecify.annotations.NullMarked;
