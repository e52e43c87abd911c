import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.host {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.text;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.threads;

  exports dev.warpwright.lower.host to
      dev.warpwright.cli,
      dev.warpwright.compiler,
      dev.warpwright.families,
      dev.warpwright.fusion,
      dev.warpwright.networks,
      dev.warpwright.profiler;
}
