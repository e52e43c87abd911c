module dev.warpwright.families {
  requires static org.jspecify;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.tensor;
  requires transitive dev.warpwright.schedule;
  requires transitive dev.warpwright.lower;

  exports dev.warpwright.families;
}
