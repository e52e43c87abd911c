package dev.warpwright.jvm;

import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.type.DType;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.constant.MethodTypeDesc;

/** Writes conditions as jumps. */
final class Branches {
  private final ScalarEmitter scalars;
  private final CodeBuilder code;

  Branches(ScalarEmitter scalars, CodeBuilder code) {
    this.scalars = scalars;
    this.code = code;
  }

  /** Goes to the target if the condition has the given value, and on otherwise. */
  void jump(Expr condition, boolean when, Label target) {
    if (condition instanceof Expr.Binary b && b.op() == (when ? BinaryOp.OR : BinaryOp.AND)) {
      jump(b.a(), when, target);
      jump(b.b(), when, target);
    } else if (condition instanceof Expr.Binary b
        && (b.op() == BinaryOp.AND || b.op() == BinaryOp.OR)) {
      Label skip = code.newLabel();
      jump(b.a(), !when, skip);
      jump(b.b(), when, target);
      code.labelBinding(skip);
    } else if (condition instanceof Expr.Unary u && u.op() == UnaryOp.NOT) {
      jump(u.a(), !when, target);
    } else if (condition instanceof Expr.Binary b && b.op().isComparison()) {
      compare(b, when, target);
    } else {
      scalars.emit(condition);
      if (when) {
        code.ifne(target);
      } else {
        code.ifeq(target);
      }
    }
  }

  private void compare(Expr.Binary b, boolean when, Label target) {
    scalars.emit(b.a());
    scalars.emit(b.b());
    DType dtype = b.a().type().dtype();
    boolean less = b.op() == BinaryOp.LT || b.op() == BinaryOp.LE;
    switch (JvmTypes.scalarKind(dtype)) {
      case INT -> {
        if (dtype != DType.U32) {
          intBranch(when ? b.op() : opposite(b.op()), target);
          return;
        }
        code.invokestatic(ScalarEmitter.INTEGER, "compareUnsigned", ScalarEmitter.ii());
      }
      case LONG -> {
        if (dtype == DType.U64) {
          code.invokestatic(
              ScalarEmitter.LONG, "compareUnsigned", MethodTypeDesc.of(CD_int, CD_long, CD_long));
        } else {
          code.lcmp();
        }
      }
      // NaN must fail every comparison: it counts as greater for < and as less for >.
      case FLOAT -> {
        if (less) {
          code.fcmpg();
        } else {
          code.fcmpl();
        }
      }
      case DOUBLE -> {
        if (less) {
          code.dcmpg();
        } else {
          code.dcmpl();
        }
      }
      case BOOLEAN, BYTE, CHAR, SHORT, REFERENCE, VOID ->
          throw new IllegalArgumentException("operands of " + b);
    }
    zeroBranch(when ? b.op() : opposite(b.op()), target);
  }

  private static BinaryOp opposite(BinaryOp op) {
    return switch (op) {
      case EQ -> BinaryOp.NE;
      case NE -> BinaryOp.EQ;
      case LT -> BinaryOp.GE;
      case GE -> BinaryOp.LT;
      case GT -> BinaryOp.LE;
      case LE -> BinaryOp.GT;
      case ADD, SUB, MUL, DIV, MOD, MIN, MAX, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, AND, OR ->
          throw new IllegalArgumentException(op + " is no comparison");
    };
  }

  private void intBranch(BinaryOp op, Label target) {
    switch (op) {
      case EQ -> code.if_icmpeq(target);
      case NE -> code.if_icmpne(target);
      case LT -> code.if_icmplt(target);
      case LE -> code.if_icmple(target);
      case GT -> code.if_icmpgt(target);
      case GE -> code.if_icmpge(target);
      case ADD, SUB, MUL, DIV, MOD, MIN, MAX, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, AND, OR ->
          throw new IllegalArgumentException(op + " is no comparison");
    }
  }

  private void zeroBranch(BinaryOp op, Label target) {
    switch (op) {
      case EQ -> code.ifeq(target);
      case NE -> code.ifne(target);
      case LT -> code.iflt(target);
      case LE -> code.ifle(target);
      case GT -> code.ifgt(target);
      case GE -> code.ifge(target);
      case ADD, SUB, MUL, DIV, MOD, MIN, MAX, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, AND, OR ->
          throw new IllegalArgumentException(op + " is no comparison");
    }
  }
}
