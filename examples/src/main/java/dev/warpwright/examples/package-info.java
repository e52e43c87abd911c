/** Schedules and kernels for people to read, and samples of every kernel family for tests. */
package dev.warpwright.examples;
