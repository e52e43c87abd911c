/** Attention on the command line: what it is, how it is computed, whether it is right. */
package dev.warpwright.cli.attention;
