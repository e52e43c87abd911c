import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.tiles {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.text;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.threads;

  exports dev.warpwright.lower.item to
      dev.warpwright.lower;
  exports dev.warpwright.lower.tile to
      dev.warpwright.cli,
      dev.warpwright.fusion,
      dev.warpwright.lower,
      dev.warpwright.profiler;
}
