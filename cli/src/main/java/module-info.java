import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.cli {
  requires info.picocli;
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.text;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.workload;
  requires transitive dev.warpwright.schedule;
  requires transitive dev.warpwright.perf;
  requires transitive dev.warpwright.orders;
  requires transitive dev.warpwright.cuda;
  requires transitive dev.warpwright.interpreter;
  requires transitive dev.warpwright.sim;
  requires transitive dev.warpwright.runtime;
  requires transitive dev.warpwright.tune;
  requires transitive dev.warpwright.families;
  requires transitive dev.warpwright.measure;
  requires dev.warpwright.synthetic;
  requires transitive dev.warpwright.graph;
  requires transitive dev.warpwright.networks;
  requires transitive dev.warpwright.arrays;
  requires transitive dev.warpwright.model;
  requires transitive dev.warpwright.fusion;
  requires transitive dev.warpwright.compiler;
  requires transitive dev.warpwright.parallel;
  requires transitive dev.warpwright.export;
  requires transitive dev.warpwright.examples;
  requires transitive dev.warpwright.profiler;
  requires transitive dev.warpwright.explorer;

  opens dev.warpwright.cli.ladder to
      info.picocli;
  opens dev.warpwright.cli.run to
      info.picocli;
}
