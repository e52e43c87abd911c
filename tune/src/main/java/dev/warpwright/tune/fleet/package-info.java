/**
 * Tuning on many machines: what a search needs of them. Who schedules work there is a matter of
 * providers, which are found on the class path.
 */
@NullMarked
package dev.warpwright.tune.fleet;

import org.jspecify.annotations.NullMarked;
