/** Network graphs, their import from files, and the array and picture files that go with them. */
module dev.warpwright.model {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.workload;
  requires transitive dev.warpwright.graph;

  exports dev.warpwright.model;
  exports dev.warpwright.model.arch;
  exports dev.warpwright.model.image;
  exports dev.warpwright.model.io;
  exports dev.warpwright.model.npy;
  exports dev.warpwright.model.weights;
}
