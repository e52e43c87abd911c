import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.orders {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.workload;
  requires transitive dev.warpwright.perf;
  requires transitive dev.warpwright.families;

  exports dev.warpwright.perf.analyze to
      dev.warpwright.explorer;
  exports dev.warpwright.perf.grid to
      dev.warpwright.explorer,
      dev.warpwright.measure;
  exports dev.warpwright.perf.order to
      dev.warpwright.explorer,
      dev.warpwright.measure,
      dev.warpwright.verify;
}
