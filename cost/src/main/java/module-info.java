module dev.warpwright.cost {
  requires static org.jspecify;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;

  exports dev.warpwright.cost;
  exports dev.warpwright.cost.analyze;
  exports dev.warpwright.cost.order;
}
