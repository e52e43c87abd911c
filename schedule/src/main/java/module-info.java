module dev.warpwright.schedule {
  requires static org.jspecify;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;

  exports dev.warpwright.schedule;
  exports dev.warpwright.schedule.trace;
}
