import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.parallel {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.text;
  requires transitive dev.warpwright.rules;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.workload;
  requires transitive dev.warpwright.perf;
  requires transitive dev.warpwright.cuda;
  requires transitive dev.warpwright.interpreter;
  requires transitive dev.warpwright.sim;
  requires transitive dev.warpwright.runtime;
  requires transitive dev.warpwright.families;
  requires transitive dev.warpwright.graph;
  requires transitive dev.warpwright.networks;
  requires transitive dev.warpwright.fusion;
  requires transitive dev.warpwright.compiler;

  exports dev.warpwright.compiler.predict to
      dev.warpwright.cli,
      dev.warpwright.profiler,
      dev.warpwright.verify;
  exports dev.warpwright.parallel.cost to
      dev.warpwright.cli,
      dev.warpwright.profiler;
  exports dev.warpwright.parallel.gpu to
      dev.warpwright.cli;
  exports dev.warpwright.parallel.program to
      dev.warpwright.cli,
      dev.warpwright.profiler,
      dev.warpwright.verify;
  exports dev.warpwright.parallel.split to
      dev.warpwright.cli;
}
