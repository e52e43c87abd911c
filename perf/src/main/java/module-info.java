module dev.warpwright.perf {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.workload;

  exports dev.warpwright.perf;
  exports dev.warpwright.perf.analyze;
  exports dev.warpwright.perf.predict;
}
