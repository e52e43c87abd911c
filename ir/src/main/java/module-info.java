module dev.warpwright.ir {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;

  exports dev.warpwright.ir;
  exports dev.warpwright.ir.accuracy;
  exports dev.warpwright.ir.arith;
  exports dev.warpwright.ir.layout;
  exports dev.warpwright.ir.order;
  exports dev.warpwright.ir.type;
  exports dev.warpwright.ir.visit;
}
