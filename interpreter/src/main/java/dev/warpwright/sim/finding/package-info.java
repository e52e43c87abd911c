/**
 * How findings come about: the text that they name, who hears of races, and the suspicion with
 * which compiled code gives up.
 */
package dev.warpwright.sim.finding;
