module dev.warpwright.jvm {
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;

}
