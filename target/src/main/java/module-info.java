module dev.warpwright.target {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;

  exports dev.warpwright.target;
  exports dev.warpwright.target.host;
  exports dev.warpwright.target.intrinsic;
}
