import org.jspecify.annotations.NullMarked;

/** The bytecode back end. */
@NullMarked
module dev.warpwright.jvm {
  requires jdk.incubator.vector;
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;

  exports dev.warpwright.jvm to
      dev.warpwright.compiler,
      dev.warpwright.profiler;
}
