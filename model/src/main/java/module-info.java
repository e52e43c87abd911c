module dev.warpwright.model {
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.tensor;
  requires transitive dev.warpwright.cost;

}
