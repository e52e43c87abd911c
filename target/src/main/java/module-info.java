import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.target {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.text;

  exports dev.warpwright.target;
  exports dev.warpwright.target.intrinsic;
  exports dev.warpwright.target.host to
      dev.warpwright.cuda,
      dev.warpwright.families,
      dev.warpwright.measure,
      dev.warpwright.parallel;
}
