/**
 * What results must be: references of higher precision, on the host and on the device, and how far
 * an output is off.
 */
package dev.warpwright.measure.reference;
