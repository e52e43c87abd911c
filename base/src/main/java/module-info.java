module dev.warpwright.base {
  requires static org.jspecify;

  exports dev.warpwright.base;
  exports dev.warpwright.base.files;
  exports dev.warpwright.base.json;
}
