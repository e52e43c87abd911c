import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.families {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.workload;
  requires transitive dev.warpwright.schedule;
  requires transitive dev.warpwright.lower;
  requires transitive dev.warpwright.host;
  requires transitive dev.warpwright.cuda;
  requires transitive dev.warpwright.space;

  exports dev.warpwright.families to
      dev.warpwright.cli,
      dev.warpwright.examples,
      dev.warpwright.explorer,
      dev.warpwright.fusion,
      dev.warpwright.measure,
      dev.warpwright.orders,
      dev.warpwright.verify;
  exports dev.warpwright.families.attention to
      dev.warpwright.compiler,
      dev.warpwright.examples,
      dev.warpwright.fusion,
      dev.warpwright.measure,
      dev.warpwright.profiler,
      dev.warpwright.verify;
  exports dev.warpwright.families.ffn to
      dev.warpwright.examples,
      dev.warpwright.fusion,
      dev.warpwright.measure;
  exports dev.warpwright.families.gemv to
      dev.warpwright.examples,
      dev.warpwright.measure;
  exports dev.warpwright.families.mma to
      dev.warpwright.examples,
      dev.warpwright.measure;
  exports dev.warpwright.families.plain to
      dev.warpwright.examples,
      dev.warpwright.measure;
  exports dev.warpwright.families.simt to
      dev.warpwright.examples,
      dev.warpwright.measure;
  exports dev.warpwright.families.space to
      dev.warpwright.explorer,
      dev.warpwright.measure,
      dev.warpwright.profiler,
      dev.warpwright.verify;
  exports dev.warpwright.families.tuned to
      dev.warpwright.cli,
      dev.warpwright.compiler,
      dev.warpwright.explorer,
      dev.warpwright.fusion,
      dev.warpwright.measure,
      dev.warpwright.parallel,
      dev.warpwright.profiler,
      dev.warpwright.verify;
  exports dev.warpwright.families.wgmma to
      dev.warpwright.examples,
      dev.warpwright.fusion,
      dev.warpwright.measure;
}
