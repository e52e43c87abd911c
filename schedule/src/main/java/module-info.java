module dev.warpwright.schedule {
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;

}
