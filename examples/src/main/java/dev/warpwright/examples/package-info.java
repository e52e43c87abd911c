/** Schedules and kernels for people to read, and samples of every kernel family for tests. */
@NullMarked
package dev.warpwright.examples;

import org.jspecify.annotations.NullMarked;
