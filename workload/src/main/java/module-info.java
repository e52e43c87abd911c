import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.workload {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;

  exports dev.warpwright.workload;
  exports dev.warpwright.workload.tensor;
  exports dev.warpwright.workload.kernel to
      dev.warpwright.cli,
      dev.warpwright.examples,
      dev.warpwright.explorer,
      dev.warpwright.export,
      dev.warpwright.families,
      dev.warpwright.fusion,
      dev.warpwright.measure,
      dev.warpwright.perf,
      dev.warpwright.profiler,
      dev.warpwright.verify;
}
