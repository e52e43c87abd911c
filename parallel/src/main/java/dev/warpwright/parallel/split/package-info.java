/** Which layers of a network are split over devices, and what each device holds of them. */
package dev.warpwright.parallel.split;
