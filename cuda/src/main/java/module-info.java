module dev.warpwright.cuda {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.text;
  requires transitive dev.warpwright.target;

  exports dev.warpwright.cuda;
  exports dev.warpwright.cuda.compile;
}
