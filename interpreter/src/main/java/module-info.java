/**
 * What executes IR one thread at a time: expressions and accesses as closures, memory with shadows,
 * races, counters, and the reference interpreter of statements, tile statements, pipes and roles.
 */
module dev.warpwright.interpreter {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.text;
  requires transitive dev.warpwright.target;

  exports dev.warpwright.sim.api;
  exports dev.warpwright.sim.counter;
  exports dev.warpwright.sim.expr;
  exports dev.warpwright.sim.finding;
  exports dev.warpwright.sim.interpret;
  exports dev.warpwright.sim.memory;
}
