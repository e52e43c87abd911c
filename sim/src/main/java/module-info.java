module dev.warpwright.sim {
  requires static org.jspecify;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.jvm;
  requires transitive dev.warpwright.cost;

  exports dev.warpwright.sim;
  exports dev.warpwright.sim.mutation;
}
