package dev.warpwright.sim.interpret;

/**
 * How the reference interpreter executes, as its rooms see it.
 *
 * @param order of iterations that do not depend on each other, and turns of roles
 * @param seed of random orders
 * @param late what may be under way happens as late as allowed
 */
public record Manner(TurnOrder order, long seed, boolean late) {}
