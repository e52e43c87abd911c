module dev.warpwright.sim {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;

  exports dev.warpwright.sim;
}
