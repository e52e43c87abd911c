import org.jspecify.annotations.NullMarked;

/** The IR's text form, printed and parsed; attributes by name. */
@NullMarked
module dev.warpwright.text {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;

  exports dev.warpwright.ir.attribute to
      dev.warpwright.rules,
      dev.warpwright.schedule;
  exports dev.warpwright.ir.text;
}
