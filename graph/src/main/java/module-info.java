import org.jspecify.annotations.NullMarked;

/** Network graphs, what builds them from operators, and their functions. */
@NullMarked
module dev.warpwright.graph {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.workload;

  exports dev.warpwright.model.graph;
  exports dev.warpwright.model.build to
      dev.warpwright.model;
  exports dev.warpwright.model.function to
      dev.warpwright.cli,
      dev.warpwright.compiler,
      dev.warpwright.export,
      dev.warpwright.fusion,
      dev.warpwright.networks,
      dev.warpwright.parallel,
      dev.warpwright.profiler,
      dev.warpwright.synthetic,
      dev.warpwright.verify;
}
