module dev.warpwright.jvm {
  requires jdk.incubator.vector;
  requires static org.jspecify;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;
}
