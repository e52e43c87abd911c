import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.verify {
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
  requires transitive dev.warpwright.measure;
  requires dev.warpwright.synthetic;
  requires transitive dev.warpwright.graph;
  requires transitive dev.warpwright.fusion;
  requires transitive dev.warpwright.compiler;
  requires transitive dev.warpwright.parallel;

  exports dev.warpwright.verify to
      dev.warpwright.cli,
      dev.warpwright.examples,
      dev.warpwright.profiler;
  exports dev.warpwright.verify.mutation to
      dev.warpwright.profiler;
  exports dev.warpwright.verify.shapes to
      dev.warpwright.cli;
}
