module dev.warpwright.measure {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.text;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.workload;
  requires transitive dev.warpwright.schedule;
  requires transitive dev.warpwright.lower;
  requires transitive dev.warpwright.perf;
  requires transitive dev.warpwright.orders;
  requires transitive dev.warpwright.cuda;
  requires transitive dev.warpwright.interpreter;
  requires transitive dev.warpwright.sim;
  requires transitive dev.warpwright.runtime;
  requires transitive dev.warpwright.space;
  requires transitive dev.warpwright.tune;
  requires transitive dev.warpwright.families;

  exports dev.warpwright.measure;
  exports dev.warpwright.measure.attention;
  exports dev.warpwright.measure.data;
  exports dev.warpwright.measure.network;
  exports dev.warpwright.measure.orders;
  exports dev.warpwright.measure.reference;
  exports dev.warpwright.measure.timing;
  exports dev.warpwright.measure.tuning;
}
