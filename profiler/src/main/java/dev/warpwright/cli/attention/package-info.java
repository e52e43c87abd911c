/** Attention on the command line: what it is, how it is computed, whether it is right. */
@NullMarked
package dev.warpwright.cli.attention;

import org.jspecify.annotations.NullMarked;
