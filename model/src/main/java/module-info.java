module dev.warpwright.model {
  requires static org.jspecify;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.tensor;
  requires transitive dev.warpwright.cost;
}
