import org.jspecify.annotations.NullMarked;

@NullMarked
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

  exports dev.warpwright.measure to
      dev.warpwright.cli,
      dev.warpwright.examples,
      dev.warpwright.explorer,
      dev.warpwright.profiler;
  exports dev.warpwright.measure.attention to
      dev.warpwright.profiler;
  exports dev.warpwright.measure.data to
      dev.warpwright.cli,
      dev.warpwright.examples,
      dev.warpwright.explorer,
      dev.warpwright.profiler,
      dev.warpwright.verify;
  exports dev.warpwright.measure.network to
      dev.warpwright.cli;
  exports dev.warpwright.measure.orders to
      dev.warpwright.cli,
      dev.warpwright.explorer;
  exports dev.warpwright.measure.reference to
      dev.warpwright.examples,
      dev.warpwright.verify;
  exports dev.warpwright.measure.timing to
      dev.warpwright.cli,
      dev.warpwright.examples,
      dev.warpwright.profiler;
  exports dev.warpwright.measure.tuning to
      dev.warpwright.explorer,
      dev.warpwright.profiler;
}
