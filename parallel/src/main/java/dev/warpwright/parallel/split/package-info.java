/** Which layers of a network are split over devices, and what each device holds of them. */
@NullMarked
package dev.warpwright.parallel.split;

import org.jspecify.annotations.NullMarked;
