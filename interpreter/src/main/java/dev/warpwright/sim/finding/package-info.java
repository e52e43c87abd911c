/**
 * How findings come about: the text that they name, who hears of races, and the suspicion with
 * which compiled code gives up.
 */
@NullMarked
package dev.warpwright.sim.finding;

import org.jspecify.annotations.NullMarked;
