import org.jspecify.annotations.NullMarked;

/** Kernel families of whole networks. */
@NullMarked
module dev.warpwright.networks {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.workload;
  requires transitive dev.warpwright.schedule;
  requires transitive dev.warpwright.lower;
  requires transitive dev.warpwright.host;
  requires transitive dev.warpwright.perf;
  requires transitive dev.warpwright.graph;

  exports dev.warpwright.networks to
      dev.warpwright.fusion;
  exports dev.warpwright.networks.layers to
      dev.warpwright.fusion,
      dev.warpwright.parallel;
  exports dev.warpwright.networks.registers to
      dev.warpwright.fusion;
  exports dev.warpwright.networks.rows to
      dev.warpwright.compiler,
      dev.warpwright.fusion;
  exports dev.warpwright.networks.stages to
      dev.warpwright.fusion,
      dev.warpwright.parallel;
}
