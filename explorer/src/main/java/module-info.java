import org.jspecify.annotations.NullMarked;

/**
 * Tile orders, analysis and the local web page that shows them: its files, the server that gives
 * them out, and the commands order, analyze and explore.
 */
@NullMarked
module dev.warpwright.explorer {
  requires info.picocli;
  requires static org.jspecify;
  requires jdk.httpserver;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.text;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.workload;
  requires transitive dev.warpwright.schedule;
  requires transitive dev.warpwright.perf;
  requires transitive dev.warpwright.orders;
  requires transitive dev.warpwright.cuda;
  requires transitive dev.warpwright.interpreter;
  requires transitive dev.warpwright.sim;
  requires transitive dev.warpwright.runtime;
  requires transitive dev.warpwright.space;
  requires transitive dev.warpwright.families;
  requires transitive dev.warpwright.measure;
  requires transitive dev.warpwright.fusion;
  requires transitive dev.warpwright.compiler;
  requires transitive dev.warpwright.profiler;

  exports dev.warpwright.cli.explore to
      dev.warpwright.cli;
  exports dev.warpwright.cli.orders to
      dev.warpwright.cli;

  opens dev.warpwright.cli.explore to
      info.picocli;
  opens dev.warpwright.cli.orders to
      info.picocli;
}
