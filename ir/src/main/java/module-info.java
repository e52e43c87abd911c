module dev.warpwright.ir {
  requires static org.jspecify;

  exports dev.warpwright.ir;
  exports dev.warpwright.ir.accuracy;
  exports dev.warpwright.ir.arith;
  exports dev.warpwright.ir.files;
  exports dev.warpwright.ir.json;
  exports dev.warpwright.ir.layout;
  exports dev.warpwright.ir.testing;
  exports dev.warpwright.ir.text;
  exports dev.warpwright.ir.verify;
}
