module dev.warpwright.cli {
  requires info.picocli;
  requires static org.jspecify;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.cost;
  requires transitive dev.warpwright.model;
  requires transitive dev.warpwright.runtime;
  requires transitive dev.warpwright.sim;
  requires transitive dev.warpwright.cuda;
  requires transitive dev.warpwright.families;
  requires transitive dev.warpwright.tune;
  requires transitive dev.warpwright.compiler;
  requires dev.warpwright.explorer;

  exports dev.warpwright.cli;

  opens dev.warpwright.cli to
      info.picocli;
}
