import org.jspecify.annotations.NullMarked;

/** The fusion planner, and the programs that it makes of networks. */
@NullMarked
module dev.warpwright.fusion {
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
  requires transitive dev.warpwright.space;
  requires transitive dev.warpwright.families;
  requires transitive dev.warpwright.graph;
  requires transitive dev.warpwright.networks;

  exports dev.warpwright.compiler.fusion to
      dev.warpwright.cli,
      dev.warpwright.compiler,
      dev.warpwright.examples,
      dev.warpwright.parallel,
      dev.warpwright.profiler;
  exports dev.warpwright.compiler.program to
      dev.warpwright.cli,
      dev.warpwright.compiler,
      dev.warpwright.examples,
      dev.warpwright.export,
      dev.warpwright.parallel,
      dev.warpwright.profiler,
      dev.warpwright.verify;
  exports dev.warpwright.compiler.records to
      dev.warpwright.cli,
      dev.warpwright.compiler,
      dev.warpwright.profiler;
}
