module dev.warpwright.ir {

  exports dev.warpwright.ir;
}
