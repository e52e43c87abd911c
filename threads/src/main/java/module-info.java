import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.threads {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.text;
  requires transitive dev.warpwright.target;

  exports dev.warpwright.lower.pass;
  exports dev.warpwright.lower.simt;
  exports dev.warpwright.lower.block to
      dev.warpwright.lower;
  exports dev.warpwright.lower.gpu to
      dev.warpwright.families,
      dev.warpwright.lower,
      dev.warpwright.tiles;
  exports dev.warpwright.lower.grid to
      dev.warpwright.lower,
      dev.warpwright.tiles;
}
