import org.jspecify.annotations.NullMarked;

/**
 * The commands about kernels: tune, perf, explain, accept, db, kernel, check, jobs and devices; and
 * what all commands share, options and reports.
 */
@NullMarked
module dev.warpwright.profiler {
  requires info.picocli;
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.text;
  requires transitive dev.warpwright.rules;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.workload;
  requires transitive dev.warpwright.perf;
  requires transitive dev.warpwright.cuda;
  requires transitive dev.warpwright.jvm;
  requires transitive dev.warpwright.interpreter;
  requires transitive dev.warpwright.sim;
  requires transitive dev.warpwright.runtime;
  requires transitive dev.warpwright.tune;
  requires transitive dev.warpwright.families;
  requires transitive dev.warpwright.measure;
  requires transitive dev.warpwright.graph;
  requires transitive dev.warpwright.model;
  requires dev.warpwright.synthetic;
  requires transitive dev.warpwright.fusion;
  requires transitive dev.warpwright.compiler;
  requires transitive dev.warpwright.parallel;
  requires transitive dev.warpwright.verify;
  requires transitive dev.warpwright.examples;

  uses dev.warpwright.tune.fleet.FleetProvider;

  exports dev.warpwright.cli.accept to
      dev.warpwright.cli;
  exports dev.warpwright.cli.attention to
      dev.warpwright.cli;
  exports dev.warpwright.cli.command to
      dev.warpwright.cli,
      dev.warpwright.explorer;
  exports dev.warpwright.cli.devices to
      dev.warpwright.cli,
      dev.warpwright.explorer;
  exports dev.warpwright.cli.jobs to
      dev.warpwright.cli;
  exports dev.warpwright.cli.kernels to
      dev.warpwright.cli,
      dev.warpwright.explorer;
  exports dev.warpwright.cli.networks to
      dev.warpwright.cli;
  exports dev.warpwright.cli.output to
      dev.warpwright.cli,
      dev.warpwright.explorer;
  exports dev.warpwright.cli.tuning to
      dev.warpwright.cli,
      dev.warpwright.explorer;

  opens dev.warpwright.cli.accept to
      info.picocli;
  opens dev.warpwright.cli.command to
      info.picocli;
  opens dev.warpwright.cli.devices to
      info.picocli;
  opens dev.warpwright.cli.jobs to
      info.picocli;
  opens dev.warpwright.cli.kernels to
      info.picocli;
  opens dev.warpwright.cli.tuning to
      info.picocli;
}
