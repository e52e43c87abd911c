import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.cuda {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.text;
  requires transitive dev.warpwright.target;

  exports dev.warpwright.cuda;
  exports dev.warpwright.cuda.compile to
      dev.warpwright.cli,
      dev.warpwright.compiler,
      dev.warpwright.export,
      dev.warpwright.families,
      dev.warpwright.measure,
      dev.warpwright.parallel,
      dev.warpwright.profiler,
      dev.warpwright.verify;
}
