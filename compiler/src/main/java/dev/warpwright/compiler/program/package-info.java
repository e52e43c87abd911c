/**
 * From a network's function to a {@link dev.warpwright.ir.Program}: which stages share a kernel,
 * how each kernel is scheduled.
 */
@NullMarked
package dev.warpwright.compiler.program;

import org.jspecify.annotations.NullMarked;
