module dev.warpwright.families {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.target;
  requires transitive dev.warpwright.workload;
  requires transitive dev.warpwright.schedule;
  requires transitive dev.warpwright.lower;
  requires transitive dev.warpwright.host;
  requires transitive dev.warpwright.cuda;
  requires transitive dev.warpwright.space;

  exports dev.warpwright.families;
  exports dev.warpwright.families.attention;
  exports dev.warpwright.families.ffn;
  exports dev.warpwright.families.gemv;
  exports dev.warpwright.families.mma;
  exports dev.warpwright.families.plain;
  exports dev.warpwright.families.simt;
  exports dev.warpwright.families.space;
  exports dev.warpwright.families.tuned;
  exports dev.warpwright.families.wgmma;
}
