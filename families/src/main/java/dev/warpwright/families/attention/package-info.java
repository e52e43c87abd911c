/**
 * Attention with divided keys: a tile program for targets with mma.sync, and what combines parts.
 */
@NullMarked
package dev.warpwright.families.attention;

import org.jspecify.annotations.NullMarked;
