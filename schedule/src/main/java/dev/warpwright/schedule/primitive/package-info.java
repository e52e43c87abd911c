/** The primitives: one file each, as functions from a PrimFunc to a PrimFunc. */
package dev.warpwright.schedule.primitive;
