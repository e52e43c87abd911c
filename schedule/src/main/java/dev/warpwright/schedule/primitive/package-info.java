/** The primitives: one file each, as functions from a PrimFunc to a PrimFunc. */
@NullMarked
package dev.warpwright.schedule.primitive;

import org.jspecify.annotations.NullMarked;
