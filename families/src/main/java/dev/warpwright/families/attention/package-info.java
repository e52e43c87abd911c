/**
 * Attention with divided keys: a tile program for targets with mma.sync, and what combines parts.
 */
package dev.warpwright.families.attention;
