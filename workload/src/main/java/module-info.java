module dev.warpwright.workload {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;

  exports dev.warpwright.workload;
  exports dev.warpwright.workload.kernel;
  exports dev.warpwright.workload.tensor;
}
