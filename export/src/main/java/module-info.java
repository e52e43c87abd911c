import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.export {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.workload;
  requires transitive dev.warpwright.schedule;
  requires transitive dev.warpwright.cuda;
  requires dev.warpwright.synthetic;
  requires transitive dev.warpwright.graph;
  requires transitive dev.warpwright.fusion;
  requires transitive dev.warpwright.compiler;

  exports dev.warpwright.export to
      dev.warpwright.cli;
}
