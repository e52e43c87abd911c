import org.jspecify.annotations.NullMarked;

@NullMarked
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
  requires static dev.warpwright.interpreter;
  requires static dev.warpwright.sim;
  requires transitive dev.warpwright.runtime;
  requires transitive dev.warpwright.space;
  requires transitive dev.warpwright.families;
  requires transitive dev.warpwright.graph;
  requires transitive dev.warpwright.networks;
  requires transitive dev.warpwright.fusion;
  requires transitive dev.warpwright.model;

  exports dev.warpwright.compiler;
  exports dev.warpwright.compiler.buffer;
  exports dev.warpwright.compiler.execute to
      dev.warpwright.cli,
      dev.warpwright.export,
      dev.warpwright.parallel,
      dev.warpwright.verify;
}
