module dev.warpwright.tensor {
  requires transitive dev.warpwright.ir;

}
