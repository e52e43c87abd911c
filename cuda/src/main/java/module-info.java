module dev.warpwright.cuda {
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;

}
