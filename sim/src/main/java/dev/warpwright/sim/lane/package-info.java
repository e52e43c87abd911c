/**
 * The straight parts of a grid kernel as bytecode, lane by lane. Whatever might be a finding is a
 * suspicion here; the closures say what it is.
 */
package dev.warpwright.sim.lane;
