package dev.warpwright.sim.lane;

import dev.warpwright.ir.Expr;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;

/**
 * Bits taken as another type, as bytecode: of one element, or of vectors whose elements are joined
 * or split. Elements of the operand are computed once each, in their order, for loads look at the
 * element before.
 */
final class LaneBitcasts {
  private final LaneScope at;
  private final LaneExprs exprs;
  private final CodeBuilder code;

  LaneBitcasts(LaneScope at, LaneExprs exprs) {
    this.at = at;
    this.exprs = exprs;
    this.code = at.code;
  }

  /** Whether an expression takes elements of a vector apart. */
  static boolean splits(Expr e) {
    return e instanceof Expr.Bitcast c && width(c) < width(c.a());
  }

  /** Pushes the bits of the element. */
  void bits(Expr.Bitcast c) {
    if (width(c) == width(c.a())) {
      exprs.bits(c.a());
    } else if (splits(c)) {
      split(c);
    } else {
      join(c);
    }
  }

  private static int width(Expr e) {
    return e.type().dtype().bits();
  }

  /** A part of an element, which is kept for the next part. */
  private void split(Expr.Bitcast c) {
    int width = width(c);
    int parts = width(c.a()) / width;
    int whole = at.previous();
    Label known = code.newLabel();
    at.loadElement();
    code.loadConstant(parts).irem().ifne(known);
    at.otherElement(
        () -> {
          at.loadElement();
          code.loadConstant(parts).idiv();
        },
        () -> {
          exprs.bits(c.a());
          code.lstore(whole);
        });
    code.labelBinding(known).lload(whole);
    at.loadElement();
    code.loadConstant(parts).irem().loadConstant(width).imul().lushr();
    code.loadConstant((1L << width) - 1).land();
  }

  /** Neighbouring elements, the first in the low bits; of a scalar the first of all. */
  private void join(Expr.Bitcast c) {
    int width = width(c.a());
    int parts = width(c) / width;
    int joined = code.allocateLocal(TypeKind.LONG);
    int part = code.allocateLocal(TypeKind.INT);
    Label next = code.newLabel();
    Label end = code.newLabel();
    if (c.type().isScalar()) {
      // Wherever it stands, its elements are a vector of their own.
      at.vectors(LaneGroup.vectors(c.a()));
    }
    code.lconst_0().lstore(joined).iconst_0().istore(part).labelBinding(next);
    code.iload(part).loadConstant(parts).if_icmpge(end);
    at.otherElement(
        () -> {
          code.iload(part);
          if (!c.type().isScalar()) {
            at.loadElement();
            code.loadConstant(parts).imul().iadd();
          }
        },
        () -> {
          exprs.bits(c.a());
          code.loadConstant((1L << width) - 1).land();
          code.iload(part).loadConstant(width).imul().lshl();
          code.lload(joined).lor().lstore(joined);
        });
    code.iinc(part, 1).goto_(next).labelBinding(end).lload(joined);
  }
}
