module dev.warpwright.tensor {
  requires static org.jspecify;
  requires transitive dev.warpwright.ir;
}
