package dev.warpwright.sim.lane;

import static java.lang.constant.ConstantDescs.CD_int;

import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;

/**
 * A loop over the lanes of a mask, under construction.
 *
 * @param lane slot of the lane's number
 * @param frame slot of the lane's frame
 */
record LaneLoop(CodeBuilder code, int rest, int lane, int frame, Label next, Label done) {
  /**
   * Begins a loop.
   *
   * @param frames pushes the array of frames
   * @param mask slot of the mask
   */
  static LaneLoop begin(CodeBuilder code, Runnable frames, int mask) {
    int rest = code.allocateLocal(TypeKind.INT);
    int lane = code.allocateLocal(TypeKind.INT);
    int frame = code.allocateLocal(TypeKind.REFERENCE);
    Label next = code.newLabel();
    Label done = code.newLabel();
    code.iload(mask).istore(rest).labelBinding(next);
    code.iload(rest).ifeq(done);
    code.iload(rest);
    code.invokestatic(
        ClassDesc.of("java.lang", "Integer"),
        "numberOfTrailingZeros",
        MethodTypeDesc.of(CD_int, CD_int));
    code.istore(lane);
    frames.run();
    code.iload(lane).aaload().astore(frame);
    return new LaneLoop(code, rest, lane, frame, next, done);
  }

  void end() {
    code.iload(rest).iload(rest).iconst_1().isub().iand().istore(rest);
    code.goto_(next).labelBinding(done);
  }
}
