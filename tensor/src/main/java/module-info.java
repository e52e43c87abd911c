module dev.warpwright.tensor {
  requires static org.jspecify;
  requires transitive dev.warpwright.ir;

  exports dev.warpwright.tensor;
}
