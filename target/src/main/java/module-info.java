module dev.warpwright.target {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.text;

  exports dev.warpwright.target;
  exports dev.warpwright.target.host;
  exports dev.warpwright.target.intrinsic;
}
