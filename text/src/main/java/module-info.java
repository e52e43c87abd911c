import org.jspecify.annotations.NullMarked;

/**
 * The IR's text form, printed and parsed; equality by canonical form; the verifier, whose messages
 * point into that text.
 */
@NullMarked
module dev.warpwright.text {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;

  exports dev.warpwright.ir.attribute to
      dev.warpwright.schedule;
  exports dev.warpwright.ir.text;
  exports dev.warpwright.ir.verify;
}
