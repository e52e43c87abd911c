import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.tune {
  requires static org.jspecify;
  requires jdk.unsupported;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.space;
  requires transitive dev.warpwright.text;
  requires transitive dev.warpwright.workload;

  exports dev.warpwright.tune;
  exports dev.warpwright.tune.fleet;
  exports dev.warpwright.tune.measure;
  exports dev.warpwright.tune.search;
}
