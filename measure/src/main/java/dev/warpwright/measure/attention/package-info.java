/** Attention on a device: its configurations verified, and timed in turn. */
@NullMarked
package dev.warpwright.measure.attention;

import org.jspecify.annotations.NullMarked;
