module dev.warpwright.threads {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.text;
  requires transitive dev.warpwright.target;

  exports dev.warpwright.lower.block;
  exports dev.warpwright.lower.gpu;
  exports dev.warpwright.lower.grid;
  exports dev.warpwright.lower.item;
  exports dev.warpwright.lower.pass;
  exports dev.warpwright.lower.simt;
}
