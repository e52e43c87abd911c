import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.examples {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.text;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.workload;
  requires transitive dev.warpwright.schedule;
  requires transitive dev.warpwright.lower;
  requires transitive dev.warpwright.perf;
  requires transitive dev.warpwright.cuda;
  requires transitive dev.warpwright.interpreter;
  requires transitive dev.warpwright.sim;
  requires transitive dev.warpwright.runtime;
  requires transitive dev.warpwright.families;
  requires transitive dev.warpwright.measure;
  requires transitive dev.warpwright.fusion;
  requires transitive dev.warpwright.compiler;
  requires transitive dev.warpwright.verify;

  exports dev.warpwright.examples to
      dev.warpwright.profiler;
  exports dev.warpwright.examples.ladder to
      dev.warpwright.cli,
      dev.warpwright.profiler;
}
