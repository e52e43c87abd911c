/**
 * Measuring behind one interface: {@link dev.warpwright.tune.measure.Measurer} takes candidates and
 * promises outcomes. Whatever a candidate does, it costs one outcome: implementations run it where
 * it can hurt nobody else.
 */
@NullMarked
package dev.warpwright.tune.measure;

import org.jspecify.annotations.NullMarked;
