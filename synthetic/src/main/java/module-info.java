import org.jspecify.annotations.NullMarked;

/** Networks with random weights: to measure, to search with and to test. */
@NullMarked
module dev.warpwright.synthetic {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.workload;
  requires transitive dev.warpwright.graph;
  requires transitive dev.warpwright.model;

  exports dev.warpwright.synthetic to
      dev.warpwright.profiler;
}
