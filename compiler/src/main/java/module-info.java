module dev.warpwright.compiler {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.workload;
  requires transitive dev.warpwright.schedule;
  requires transitive dev.warpwright.lower;
  requires transitive dev.warpwright.host;
  requires transitive dev.warpwright.perf;
  requires transitive dev.warpwright.cuda;
  requires transitive dev.warpwright.jvm;
  requires transitive dev.warpwright.interpreter;
  requires transitive dev.warpwright.sim;
  requires transitive dev.warpwright.runtime;
  requires transitive dev.warpwright.tune;
  requires transitive dev.warpwright.families;
  requires transitive dev.warpwright.graph;
  requires transitive dev.warpwright.model;

  exports dev.warpwright.compiler;
  exports dev.warpwright.compiler.execute;
  exports dev.warpwright.compiler.predict;
  exports dev.warpwright.compiler.program;
  exports dev.warpwright.compiler.records;
  exports dev.warpwright.compiler.stages;
}
