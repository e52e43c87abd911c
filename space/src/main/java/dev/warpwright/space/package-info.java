/**
 * The design space as programs: a {@link dev.warpwright.space.Sketch} asks {@link
 * dev.warpwright.space.Decisions} questions while it plans a candidate, so that an option may
 * depend on what was answered before. Answers are recorded as a {@link dev.warpwright.space.Point},
 * which can be replayed, mutated, crossed and written down.
 */
@NullMarked
package dev.warpwright.space;

import org.jspecify.annotations.NullMarked;
