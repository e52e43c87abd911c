/**
 * The design space as programs: a {@link dev.warpwright.tune.space.Sketch} asks {@link
 * dev.warpwright.tune.space.Decisions} questions while it plans a candidate, so that an option may
 * depend on what was answered before. Answers are recorded as a {@link
 * dev.warpwright.tune.space.Point}, which can be replayed, mutated, crossed and written down.
 */
@NullMarked
package dev.warpwright.tune.space;

import org.jspecify.annotations.NullMarked;
