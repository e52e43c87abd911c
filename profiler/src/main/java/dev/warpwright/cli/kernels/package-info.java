/** {@code kernel} and {@code check}: kernels as text. */
package dev.warpwright.cli.kernels;
