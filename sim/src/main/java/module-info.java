import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.sim {
  requires static org.jspecify;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.interpreter;

  exports dev.warpwright.sim;
}
