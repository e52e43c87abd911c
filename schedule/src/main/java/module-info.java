import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.schedule {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.text;

  exports dev.warpwright.schedule;
  exports dev.warpwright.schedule.error;
  exports dev.warpwright.schedule.trace;
}
