import org.jspecify.annotations.NullMarked;

/** Network graphs, their import from files, and the array and picture files that go with them. */
@NullMarked
module dev.warpwright.model {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.workload;
  requires transitive dev.warpwright.graph;

  exports dev.warpwright.model.arch;
  exports dev.warpwright.model to
      dev.warpwright.compiler;
  exports dev.warpwright.model.weights to
      dev.warpwright.synthetic;
}
