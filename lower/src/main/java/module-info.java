import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.lower {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.text;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.threads;
  requires transitive dev.warpwright.tiles;

  exports dev.warpwright.lower.copy to
      dev.warpwright.families,
      dev.warpwright.networks;
  exports dev.warpwright.lower.flow;
  exports dev.warpwright.lower.launch to
      dev.warpwright.fusion,
      dev.warpwright.measure,
      dev.warpwright.profiler;
  exports dev.warpwright.lower.text to
      dev.warpwright.families;
}
