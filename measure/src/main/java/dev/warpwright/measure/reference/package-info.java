/**
 * What results must be: references of higher precision, on the host and on the device, and how far
 * an output is off.
 */
@NullMarked
package dev.warpwright.measure.reference;

import org.jspecify.annotations.NullMarked;
