/**
 * Command lines, files and surroundings that nobody would give on purpose, made at random out of
 * good ones. {@code bench/hostile.sh} performs them for as long as it is told to, a test a few of
 * each kind.
 */
@NullMarked
package dev.warpwright.cli.hostile;

import org.jspecify.annotations.NullMarked;
