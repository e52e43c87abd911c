import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.ir {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;

  exports dev.warpwright.ir;
  exports dev.warpwright.ir.accuracy;
  exports dev.warpwright.ir.order;
  exports dev.warpwright.ir.type;
  exports dev.warpwright.ir.visit;
  exports dev.warpwright.ir.arith to
      dev.warpwright.cli,
      dev.warpwright.cuda,
      dev.warpwright.families,
      dev.warpwright.host,
      dev.warpwright.lower,
      dev.warpwright.networks,
      dev.warpwright.perf,
      dev.warpwright.rules,
      dev.warpwright.schedule,
      dev.warpwright.text,
      dev.warpwright.threads,
      dev.warpwright.tiles,
      dev.warpwright.workload;
  exports dev.warpwright.ir.layout to
      dev.warpwright.lower,
      dev.warpwright.threads;
}
