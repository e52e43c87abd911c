module dev.warpwright.runtime {
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;

}
