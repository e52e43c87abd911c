/** Attention on a device: its configurations verified, and timed in turn. */
package dev.warpwright.measure.attention;
