import org.jspecify.annotations.NullMarked;

/**
 * What executes IR one thread at a time: expressions and accesses as closures, memory with shadows,
 * races, counters, and the reference interpreter of statements, tile statements, pipes and roles.
 */
@NullMarked
module dev.warpwright.interpreter {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.text;
  requires transitive dev.warpwright.target;

  exports dev.warpwright.sim.api;
  exports dev.warpwright.sim.counter to
      dev.warpwright.sim;
  exports dev.warpwright.sim.expr to
      dev.warpwright.sim;
  exports dev.warpwright.sim.finding to
      dev.warpwright.cli,
      dev.warpwright.sim;
  exports dev.warpwright.sim.interpret to
      dev.warpwright.sim;
  exports dev.warpwright.sim.memory to
      dev.warpwright.sim;
}
