/** The fusion planner: which stages of a network share a kernel, and how each is scheduled. */
@NullMarked
package dev.warpwright.compiler.fusion;

import org.jspecify.annotations.NullMarked;
