module dev.warpwright.cost {
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;

}
