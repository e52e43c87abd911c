/** Kernel families of whole networks. */
module dev.warpwright.networks {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.workload;
  requires transitive dev.warpwright.schedule;
  requires transitive dev.warpwright.lower;
  requires transitive dev.warpwright.host;
  requires transitive dev.warpwright.perf;
  requires transitive dev.warpwright.graph;

  exports dev.warpwright.networks;
  exports dev.warpwright.networks.layers;
  exports dev.warpwright.networks.registers;
  exports dev.warpwright.networks.rows;
  exports dev.warpwright.networks.stages;
}
