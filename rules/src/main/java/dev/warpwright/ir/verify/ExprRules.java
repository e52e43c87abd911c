package dev.warpwright.ir.verify;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.IntegerMath;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Affine;
import dev.warpwright.ir.arith.Interval;
import dev.warpwright.ir.arith.Simplifier;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.verify.Verifier.Findings;
import java.util.List;
import java.util.Optional;

/** The rules for expressions. */
final class ExprRules {
  private final Findings findings;
  private final IntrinsicRules intrinsics;
  private final AccessRules accesses;

  ExprRules(Findings findings, IntrinsicRules intrinsics, AccessRules accesses) {
    this.findings = findings;
    this.intrinsics = intrinsics;
    this.accesses = accesses;
  }

  /** A value. */
  void check(Expr e, Place place) {
    switch (e) {
      case Var v -> {
        if (!place.vars().contains(v)) {
          findings.add(Rule.DECLARED, v, "variable '" + v.name() + "' is not declared here");
        }
      }
      case Expr.IntImm imm -> {
        if (IntegerMath.wrap(imm.type().dtype(), imm.value()) != imm.value()) {
          types(e, imm.value() + " does not fit into " + imm.type());
        }
      }
      case Expr.FloatImm imm -> {}
      case Expr.Binary b -> {
        check(b.a(), place);
        check(b.b(), place);
        binary(b);
      }
      case Expr.Unary u -> {
        check(u.a(), place);
        DType dtype = u.a().type().dtype();
        boolean fits =
            switch (u.op()) {
              case NEG -> isArithmetic(dtype);
              case NOT -> dtype == DType.BOOL;
              case BIT_NOT -> dtype.isInt();
            };
        if (!fits) {
          types(e, "'" + u.op().text() + "' of " + u.a().type());
        }
      }
      case Expr.Select s -> {
        check(s.condition(), place);
        // Only the chosen side happens, under what the condition says.
        boolean scalar = s.condition().type().isScalar();
        Place unsure = place.uncertain();
        check(s.then(), scalar ? unsure.with(place.bounds().assuming(s.condition())) : unsure);
        check(
            s.otherwise(),
            scalar ? unsure.with(place.bounds().assumingNot(s.condition())) : unsure);
        int lanes = s.condition().type().lanes();
        if (lanes != 1 && lanes != s.type().lanes()) {
          types(e, "select between " + s.type() + " by " + s.condition().type());
        }
      }
      case Expr.Cast c -> {
        check(c.a(), place);
        if (!isValue(c.a().type().dtype()) || !isValue(c.type().dtype())) {
          types(e, "conversion from " + c.a().type() + " to " + c.type());
        }
      }
      case Expr.Bitcast b -> {
        check(b.a(), place);
        if (!isValue(b.a().type().dtype()) || !isValue(b.type().dtype())) {
          types(e, "bits of " + b.a().type() + " as " + b.type());
        }
      }
      case Expr.Load l -> {
        access(e, l.buffer(), l.indices(), place);
        if (l.buffer().dtype() == DType.MBARRIER) {
          types(e, "an element of '" + l.buffer().name() + "' is no value");
        }
      }
      case Expr.AddressOf a ->
          findings.add(
              Rule.TYPES,
              e,
              "the address in '" + a.buffer().name() + "' is no argument of an intrinsic");
      case Expr.Ramp r -> check(r.base(), place);
      case Expr.Broadcast b -> check(b.value(), place);
      case Expr.Call c -> {
        call(c, place);
        if (c.op() instanceof Intrinsic intrinsic && intrinsic.result() == null) {
          findings.add(Rule.INTRINSICS, e, intrinsic.text() + " gives no value");
        }
      }
    }
  }

  void call(Expr.Call c, Place place) {
    switch (c.op()) {
      case MathOp op -> {
        c.args().forEach(a -> check(a, place));
        math(c, op);
      }
      case Intrinsic intrinsic -> {
        for (Expr arg : c.args()) {
          if (arg instanceof Expr.AddressOf address) {
            access(address, address.buffer(), address.indices(), place);
          } else {
            check(arg, place);
          }
        }
        intrinsics.check(c, intrinsic, place);
      }
    }
  }

  private void types(Object node, String message) {
    findings.add(Rule.TYPES, node, message);
  }

  /** Types with arithmetic of their own; narrow floats are cast first. */
  static boolean isArithmetic(DType dtype) {
    return dtype.isInt() || dtype == DType.F32 || dtype == DType.F64;
  }

  private static boolean isValue(DType dtype) {
    return dtype.isInt() || dtype.isFloat() || dtype == DType.BOOL;
  }

  private void binary(Expr.Binary e) {
    DType dtype = e.a().type().dtype();
    boolean fits =
        switch (e.op()) {
          case ADD, SUB, MUL, DIV, MIN, MAX -> isArithmetic(dtype);
          case MOD, SHL, SHR -> dtype.isInt();
          case BIT_AND, BIT_OR, BIT_XOR -> dtype.isInt() || dtype == DType.BOOL;
          case EQ, NE -> isArithmetic(dtype) || dtype == DType.BOOL;
          case LT, LE, GT, GE -> isArithmetic(dtype);
          case AND, OR -> dtype == DType.BOOL;
        };
    if (!fits) {
      types(e, "'" + e.op().text() + "' of " + e.a().type() + ": cast it first");
    }
    if ((e.op() == BinaryOp.DIV || e.op() == BinaryOp.MOD)
        && dtype.isInt()
        && Exprs.isConst(e.b(), 0)) {
      types(e, "division by zero");
    }
  }

  private void math(Expr.Call c, MathOp op) {
    DType dtype = c.type().dtype();
    boolean approximate =
        switch (op) {
          case EXP2_APPROX, TANH_APPROX, RCP_APPROX, SIN_APPROX, COS_APPROX -> true;
          case FMA, EXP, EXP2, LOG, SQRT, RSQRT, SIN, COS, TANH, ERF, POW, ABS, FLOOR, CEIL ->
              false;
        };
    boolean fits =
        approximate
            ? dtype == DType.F32
            : dtype == DType.F32 || dtype == DType.F64 || (op == MathOp.ABS && dtype.isInt());
    if (c.args().size() != op.arity()) {
      types(c, op.text() + " takes " + op.arity() + " arguments, not " + c.args().size());
    } else if (!fits || !c.args().stream().allMatch(a -> a.type().equals(c.type()))) {
      List<Type> given = c.args().stream().map(Expr::type).toList();
      types(c, op.text() + " of " + given + " to " + c.type());
    }
  }

  /** An element, or several along the last dimension. */
  void access(Object node, Buffer buffer, List<Expr> indices, Place place) {
    if (!place.buffers().contains(buffer)) {
      findings.add(Rule.DECLARED, node, "buffer '" + buffer.name() + "' is not declared here");
    }
    for (int i = 0; i < indices.size(); i++) {
      Expr index = indices.get(i);
      check(index, place);
      boolean last = i == indices.size() - 1;
      if (!index.type().dtype().isInt() || (!last && !index.type().isScalar())) {
        findings.add(
            Rule.INDICES,
            node,
            "index " + i + " of '" + buffer.name() + "' has type " + index.type());
      } else {
        inBounds(node, buffer, i, index, place);
      }
    }
    accesses.check(node, buffer, indices);
  }

  private void inBounds(Object node, Buffer buffer, int dimension, Expr index, Place place) {
    Expr extent = buffer.shape().get(dimension);
    Interval values = place.bounds().of(index);
    boolean outside = values.max() < 0;
    if (extent instanceof Expr.IntImm imm) {
      outside |= values.min() >= imm.value();
      outside |= reachesOutside(index, imm.value(), values, place);
    } else if (index.type().equals(extent.type())) {
      // Where conditions contradict each other, everything is provable and nothing happens.
      Simplifier simplifier = new Simplifier(place.bounds());
      outside |=
          simplifier.proves(new Expr.Binary(BinaryOp.GE, index, extent))
              && !simplifier.proves(new Expr.Binary(BinaryOp.LT, index, extent));
    }
    if (outside) {
      findings.add(
          Rule.IN_BOUNDS,
          node,
          "index "
              + IrPrinter.text(index)
              + " of dimension "
              + dimension
              + " of '"
              + buffer.name()
              + "' is outside of 0 to "
              + IrPrinter.text(extent)
              + " - 1");
    }
  }

  /**
   * Whether some iteration is certain to be outside: the place is always reached, and the index is
   * affine in loop variables that take all their values independently.
   */
  private static boolean reachesOutside(Expr index, long extent, Interval values, Place place) {
    if (!place.certain() || (values.min() >= 0 && values.max() < extent)) {
      return false;
    }
    Expr scalar = index instanceof Expr.Ramp r ? r.base() : index;
    Optional<Affine> affine = Affine.of(scalar);
    return affine.isPresent()
        && place.everyIteration().containsAll(affine.get().coefficients().keySet());
  }
}
