/** Network graphs, what builds them from operators, and their functions. */
module dev.warpwright.graph {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.workload;

  exports dev.warpwright.model.build;
  exports dev.warpwright.model.function;
  exports dev.warpwright.model.graph;
}
