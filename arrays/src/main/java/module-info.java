import org.jspecify.annotations.NullMarked;

/** Arrays in files: NumPy's, and pictures. */
@NullMarked
module dev.warpwright.arrays {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.graph;

  exports dev.warpwright.model.image to
      dev.warpwright.cli;
  exports dev.warpwright.model.npy to
      dev.warpwright.cli;
}
