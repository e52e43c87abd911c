package dev.warpwright.sim.lane;

import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_long;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Op;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.sim.expr.AffineIndex;
import dev.warpwright.sim.expr.DoubleExpr;
import dev.warpwright.sim.expr.ExprCompiler;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.Collections;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Expressions of one lane as bytecode, of a vector one element at a time. They mean what {@link
 * ExprCompiler} says. Integers are {@code long}, {@code f64} is {@code double}, other floats are
 * {@code float}. What there is no bytecode for is a closure, as are calls of the warp.
 */
final class LaneExprs {
  static final ClassDesc CODE = ClassDesc.ofDescriptor(WarpCode.class.descriptorString());
  private static final ClassDesc LONG_EXPR =
      ClassDesc.ofDescriptor(LongExpr.class.descriptorString());
  private static final ClassDesc DOUBLE_EXPR =
      ClassDesc.ofDescriptor(DoubleExpr.class.descriptorString());

  private static final Map<Op, String> SCALAR_FUNCTIONS =
      Map.of(
          Intrinsics.PACK_F16X2, "packF16",
          Intrinsics.PACK_BF16X2, "packBf16",
          Intrinsics.PACK_RELU_F16X2, "packReluF16",
          Intrinsics.PACK_RELU_BF16X2, "packReluBf16",
          // Of f16 the bits are what rounding leaves.
          Intrinsics.JOIN_F16X2, "packF16",
          Intrinsics.JOIN_RELU_F16X2, "packReluF16",
          Intrinsics.CVT_RNA_TF32, "tf32",
          Intrinsics.FMA_SAT_F32, "saturatedFma");

  private final CodeBuilder code;
  private final LaneScope at;
  private final LaneAccess access;
  private final LaneArithmetic arithmetic;
  private final LaneBitcasts bitcasts;

  private LaneClosures closures;

  LaneExprs(LaneScope at, LaneClosures closures) {
    this.code = at.code;
    this.at = at;
    this.closures = closures;
    at.begin(closures.where());
    this.access = new LaneAccess(at, this);
    this.arithmetic = new LaneArithmetic(code);
    this.bitcasts = new LaneBitcasts(at, this);
  }

  LaneAccess access() {
    return access;
  }

  /** Begins a statement. */
  void begin(LaneClosures statement) {
    at.begin(statement.where());
    closures = statement;
  }

  /** Whether there is bytecode for a node, apart from its children. */
  static boolean isNative(Expr e) {
    return switch (e) {
      case Expr.Call call ->
          call.op() instanceof MathOp op
              ? call.type().dtype() == DType.F32
                  || call.type().dtype() == DType.F64
                  || (op == MathOp.ABS && !call.type().dtype().isFloat())
              : scalarFunction(call) != null;
      case Expr.Binary b ->
          b.op().isComparison()
              || (!b.type().dtype().isFloat() && !(isExtreme(b.op()) && isU64(b)))
              || b.type().dtype() == DType.F32
              || b.type().dtype() == DType.F64;
      case Expr.Select s -> isUniform(s.condition()) || !loadsVectors(s);
      case Expr.AddressOf _ -> false;
      case Var _,
          Expr.IntImm _,
          Expr.FloatImm _,
          Expr.Unary _,
          Expr.Cast _,
          Expr.Bitcast _,
          Expr.Load _,
          Expr.Ramp _,
          Expr.Broadcast _ ->
          true;
    };
  }

  private static boolean isExtreme(BinaryOp op) {
    return op == BinaryOp.MIN || op == BinaryOp.MAX;
  }

  private static boolean isU64(Expr e) {
    return e.type().dtype() == DType.U64;
  }

  private static boolean isUniform(Expr condition) {
    return condition.type().isScalar() || condition instanceof Expr.Broadcast;
  }

  private static boolean loadsVectors(Expr e) {
    boolean[] found = {false};
    Walk.expressions(
        e, part -> found[0] |= part instanceof Expr.Load load && !load.type().isScalar());
    return found[0];
  }

  /** Pushes a value: a {@code long}, {@code float} or {@code double}. */
  void value(Expr e) {
    if (!isNative(e)) {
      closureValue(e);
      return;
    }
    switch (e) {
      case Expr.IntImm imm -> code.loadConstant(imm.value());
      case Expr.FloatImm imm -> {
        if (imm.type().dtype() == DType.F64) {
          code.loadConstant(imm.value());
        } else {
          code.loadConstant((float) imm.value());
        }
      }
      case Var v -> at.load(v);
      case Expr.Binary b -> binary(b);
      case Expr.Unary u -> unary(u);
      case Expr.Select s -> {
        Label no = code.newLabel();
        Label end = code.newLabel();
        condition(s.condition(), no);
        value(s.then());
        code.goto_(end).labelBinding(no);
        value(s.otherwise());
        code.labelBinding(end);
      }
      case Expr.Cast c -> {
        value(c.a());
        arithmetic.cast(c.a().type().dtype(), c.type().dtype());
      }
      case Expr.Bitcast c -> {
        bitcasts.bits(c);
        arithmetic.fromBits(c.type().dtype());
      }
      case Expr.Load load -> access.load(load);
      case Expr.Ramp ramp -> {
        index(ramp.base());
        at.loadElement();
        code.i2l().loadConstant(ramp.stride()).lmul().ladd();
      }
      case Expr.Broadcast b -> value(b.value());
      case Expr.Call call -> call(call);
      case Expr.AddressOf _ -> throw new IllegalStateException("an address is no value");
    }
  }

  private void closureValue(Expr e) {
    Object closure = closures.get(e);
    if (closure instanceof DoubleExpr expr) {
      at.fromTable("reals", DOUBLE_EXPR, at.builder.real(expr));
      code.aload(at.frame());
      code.invokeinterface(DOUBLE_EXPR, "eval", MethodTypeDesc.of(CD_double, LaneScope.FRAME));
      if (e.type().dtype() != DType.F64) {
        code.d2f();
      }
    } else if (closure instanceof LongExpr expr) {
      at.fromTable("integers", LONG_EXPR, at.builder.integer(expr));
      code.aload(at.frame());
      code.invokeinterface(LONG_EXPR, "eval", MethodTypeDesc.of(CD_long, LaneScope.FRAME));
    }
  }

  /** Pushes an index, computed in 64 bits where it is a sum of variables times constants. */
  void index(Expr e) {
    AffineIndex affine = AffineIndex.of(e);
    if (affine == null) {
      value(e);
      return;
    }
    boolean first = true;
    for (Map.Entry<Var, Long> term : affine.terms().entrySet()) {
      at.load(term.getKey());
      if (term.getValue() != 1) {
        code.loadConstant((long) term.getValue()).lmul();
      }
      if (!first) {
        code.ladd();
      }
      first = false;
    }
    if (first) {
      code.loadConstant(affine.constant());
    } else if (affine.constant() != 0) {
      code.loadConstant(affine.constant()).ladd();
    }
  }

  /** Pushes the bits of a value, in the low bits of a {@code long}. */
  void bits(Expr e) {
    value(e);
    arithmetic.toBits(e.type().dtype());
  }

  /** Pushes a value of a float type as {@code double}. */
  void real(Expr e) {
    value(e);
    arithmetic.toDouble(e.type().dtype());
  }

  /** Goes to the label if the condition does not hold. */
  void condition(Expr e, Label no) {
    if (e instanceof Expr.Binary(BinaryOp op, Expr a, Expr b)) {
      if (op == BinaryOp.AND && isNative(e) && isHarmless(b)) {
        condition(a, no);
        condition(b, no);
        return;
      }
      DType dtype = a.type().dtype();
      if (op.isComparison() && dtype != DType.U64) {
        value(a);
        value(b);
        arithmetic.compare(op, dtype);
        arithmetic.jumpUnless(op, no);
        return;
      }
    }
    value(e);
    code.lconst_0().lcmp().ifeq(no);
  }

  /** Whether it makes no difference if an expression is not evaluated. */
  private static boolean isHarmless(Expr e) {
    boolean[] harmless = {true};
    Walk.expressions(
        e,
        part ->
            harmless[0] &=
                !(part instanceof Expr.Load)
                    && !(part instanceof Expr.Call)
                    && !(part instanceof Expr.Binary b
                        && (b.op() == BinaryOp.DIV || b.op() == BinaryOp.MOD)
                        && !(b.b() instanceof Expr.IntImm)));
    return harmless[0];
  }

  private void binary(Expr.Binary b) {
    value(b.a());
    value(b.b());
    boolean divides = !(b.b() instanceof Expr.IntImm imm && imm.value() != 0);
    arithmetic.binary(b.op(), b.a().type().dtype(), divides);
  }

  private void unary(Expr.Unary u) {
    DType dtype = u.type().dtype();
    value(u.a());
    if (dtype == DType.F64) {
      code.dneg();
    } else if (dtype.isFloat()) {
      code.fneg();
    } else {
      switch (u.op()) {
        case NEG -> {
          code.lneg();
          arithmetic.wrap(dtype);
        }
        case NOT -> code.lconst_1().lxor();
        case BIT_NOT -> {
          code.loadConstant(-1L).lxor();
          arithmetic.wrap(dtype);
        }
      }
    }
  }

  /** The method that computes an intrinsic of f32, or null. */
  private static @Nullable String scalarFunction(Expr.Call call) {
    return SCALAR_FUNCTIONS.get(call.op());
  }

  private void call(Expr.Call call) {
    String function = scalarFunction(call);
    if (function != null) {
      call.args().forEach(this::value);
      code.invokestatic(
          CODE,
          function,
          MethodTypeDesc.of(
              call.type().equals(Type.F32) ? CD_float : CD_long,
              Collections.nCopies(call.args().size(), CD_float)));
      return;
    }
    call.args().forEach(this::value);
    arithmetic.function((MathOp) call.op(), call.type().dtype());
  }
}
