/**
 * Races and hangs that people met in public, as small programs of ours: {@link
 * dev.warpwright.examples.museum.Museum} has them, each with what was wrong and how it is mended.
 */
@NullMarked
package dev.warpwright.examples.museum;

import org.jspecify.annotations.NullMarked;
