import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.base {
  requires static org.jspecify;

  exports dev.warpwright.base;
  exports dev.warpwright.base.files to
      dev.warpwright.arrays,
      dev.warpwright.cli,
      dev.warpwright.compiler,
      dev.warpwright.cuda,
      dev.warpwright.explorer,
      dev.warpwright.families,
      dev.warpwright.measure,
      dev.warpwright.model,
      dev.warpwright.profiler,
      dev.warpwright.space,
      dev.warpwright.target;
  exports dev.warpwright.base.json to
      dev.warpwright.cli,
      dev.warpwright.explorer,
      dev.warpwright.export,
      dev.warpwright.measure,
      dev.warpwright.model,
      dev.warpwright.orders,
      dev.warpwright.parallel,
      dev.warpwright.profiler,
      dev.warpwright.schedule,
      dev.warpwright.space;
}
