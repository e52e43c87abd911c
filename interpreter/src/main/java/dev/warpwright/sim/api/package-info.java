/**
 * What executions give: findings, errors, counters; and the precision in which they compute. Data
 * that all rooms of the simulator know.
 */
@NullMarked
package dev.warpwright.sim.api;

import org.jspecify.annotations.NullMarked;
