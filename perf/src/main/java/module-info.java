import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.perf {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.workload;

  exports dev.warpwright.perf to
      dev.warpwright.cli,
      dev.warpwright.examples,
      dev.warpwright.explorer,
      dev.warpwright.fusion,
      dev.warpwright.measure,
      dev.warpwright.networks,
      dev.warpwright.orders,
      dev.warpwright.parallel,
      dev.warpwright.profiler,
      dev.warpwright.verify;
  exports dev.warpwright.perf.predict to
      dev.warpwright.cli,
      dev.warpwright.explorer,
      dev.warpwright.fusion,
      dev.warpwright.measure,
      dev.warpwright.orders,
      dev.warpwright.parallel,
      dev.warpwright.profiler,
      dev.warpwright.verify;
}
