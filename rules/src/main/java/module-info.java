import org.jspecify.annotations.NullMarked;

/** The verifier: what is wrong with a program, in messages that point into its text. */
@NullMarked
module dev.warpwright.rules {
  requires static org.jspecify;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.text;

  exports dev.warpwright.ir.verify;
}
