module dev.warpwright.compiler {
  requires static org.jspecify;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.tensor;
  requires transitive dev.warpwright.schedule;
  requires transitive dev.warpwright.lower;
  requires transitive dev.warpwright.cost;
  requires transitive dev.warpwright.families;
  requires transitive dev.warpwright.cuda;
  requires transitive dev.warpwright.jvm;
  requires transitive dev.warpwright.sim;
  requires transitive dev.warpwright.runtime;
  requires transitive dev.warpwright.model;
  requires transitive dev.warpwright.tune;

  exports dev.warpwright.compiler;
  exports dev.warpwright.compiler.bench;
  exports dev.warpwright.compiler.check;
  exports dev.warpwright.compiler.execute;
  exports dev.warpwright.compiler.export;
  exports dev.warpwright.compiler.ladder;
  exports dev.warpwright.compiler.orders;
  exports dev.warpwright.compiler.predict;
  exports dev.warpwright.compiler.program;
  exports dev.warpwright.compiler.tune;
}
