package dev.warpwright.sim.lane;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.util.List;

/** Writes the method that computes an operand of an intrinsic; see {@link WarpCode#operand}. */
final class LaneOperand {
  private static final int FRAMES = 1;
  private static final int MASK = 2;
  private static final int VALUES = 3;

  private final CodeBuilder code;
  private final WarpCodeBuilder builder;

  LaneOperand(CodeBuilder code, WarpCodeBuilder builder) {
    this.code = code;
    this.builder = builder;
  }

  void write(LaneClosures closures, Expr e) {
    LaneScope scope = new LaneScope(code, builder);
    LaneExprs exprs = new LaneExprs(scope, closures);
    int outside = code.allocateLocal(TypeKind.INT);
    code.iconst_0().istore(outside);
    LaneLoop loop = LaneLoop.begin(code, () -> code.aload(FRAMES), MASK);
    scope.enter(loop.frame());
    LaneGroup.buffers(e).forEach(scope::open);
    int result = code.allocateLocal(TypeKind.LONG);
    if (e instanceof Expr.AddressOf(Buffer b, List<Expr> indices)) {
      LaneAccess access = exprs.access();
      List<Integer> coordinates = access.coordinates(b, indices, false);
      for (int d = 0; d < coordinates.size(); d++) {
        Label wrong = code.newLabel();
        Label fine = code.newLabel();
        code.lload(coordinates.get(d)).lconst_0().lcmp().iflt(wrong);
        code.lload(coordinates.get(d));
        access.extent(b, d);
        code.lcmp().iflt(fine).labelBinding(wrong);
        code.iload(outside).iconst_1().iload(loop.lane()).ishl().ior().istore(outside);
        code.labelBinding(fine);
      }
      access.offset(b, coordinates);
      code.loadConstant((long) b.dtype().bytes()).lmul();
    } else {
      exprs.bits(e);
    }
    code.lstore(result);
    code.aload(VALUES).iload(loop.lane()).lload(result).lastore();
    loop.end();
    code.iload(outside).ireturn();
  }
}
