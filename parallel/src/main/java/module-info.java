module dev.warpwright.parallel {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.text;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.workload;
  requires transitive dev.warpwright.perf;
  requires transitive dev.warpwright.cuda;
  requires transitive dev.warpwright.interpreter;
  requires transitive dev.warpwright.sim;
  requires transitive dev.warpwright.runtime;
  requires transitive dev.warpwright.families;
  requires transitive dev.warpwright.graph;
  requires transitive dev.warpwright.compiler;

  exports dev.warpwright.parallel.cost;
  exports dev.warpwright.parallel.gpu;
  exports dev.warpwright.parallel.nccl;
  exports dev.warpwright.parallel.program;
  exports dev.warpwright.parallel.split;
}
