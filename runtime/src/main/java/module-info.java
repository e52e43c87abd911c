import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.runtime {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.cuda;

  exports dev.warpwright.runtime.cuda;
  exports dev.warpwright.runtime.launch;
  exports dev.warpwright.runtime.call to
      dev.warpwright.measure,
      dev.warpwright.parallel;
}
