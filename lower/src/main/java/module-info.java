module dev.warpwright.lower {
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;

}
