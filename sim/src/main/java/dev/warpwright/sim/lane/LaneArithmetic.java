package dev.warpwright.sim.lane;

import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.type.DType;
import dev.warpwright.sim.expr.ExprCompiler;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;

/** Operators on values that have been pushed as {@link LaneExprs} pushes them. */
public final class LaneArithmetic {
  private static final ClassDesc CODE = LaneExprs.CODE;
  private static final ClassDesc REGION_MATH =
      ClassDesc.ofDescriptor(RegionMath.class.descriptorString());
  private static final ClassDesc MATH = ClassDesc.of("java.lang", "Math");
  private static final ClassDesc LONG = ClassDesc.of("java.lang", "Long");
  private static final ClassDesc FLOAT = ClassDesc.of("java.lang", "Float");
  private static final MethodTypeDesc TWO_LONGS = MethodTypeDesc.of(CD_long, CD_long, CD_long);
  private static final MethodTypeDesc TWO_FLOATS = MethodTypeDesc.of(CD_float, CD_float, CD_float);
  private static final MethodTypeDesc TWO_DOUBLES =
      MethodTypeDesc.of(CD_double, CD_double, CD_double);

  private final CodeBuilder code;

  public LaneArithmetic(CodeBuilder code) {
    this.code = code;
  }

  /**
   * An operator on two values of a type.
   *
   * @param divides whether what it may divide by may be 0
   */
  void binary(BinaryOp op, DType dtype, boolean divides) {
    if (op.isComparison()) {
      if (dtype == DType.U64) {
        code.invokestatic(LONG, "compareUnsigned", MethodTypeDesc.of(CD_int, CD_long, CD_long));
      } else {
        compare(op, dtype);
      }
      Label no = code.newLabel();
      Label end = code.newLabel();
      jumpUnless(op, no);
      code.lconst_1().goto_(end).labelBinding(no).lconst_0().labelBinding(end);
    } else if (dtype == DType.F64) {
      realBinary(op);
    } else if (dtype.isFloat()) {
      singleBinary(op);
    } else {
      integerBinary(op, dtype, divides);
    }
  }

  private void singleBinary(BinaryOp op) {
    switch (op) {
      case ADD -> code.fadd();
      case SUB -> code.fsub();
      case MUL -> code.fmul();
      case DIV -> code.fdiv();
      case MIN -> code.invokestatic(REGION_MATH, "min", TWO_FLOATS);
      case MAX -> code.invokestatic(REGION_MATH, "max", TWO_FLOATS);
      case MOD, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, EQ, NE, LT, LE, GT, GE, AND, OR ->
          throw new IllegalArgumentException(op.text() + " of floats");
    }
  }

  private void realBinary(BinaryOp op) {
    ClassDesc compiler = ClassDesc.ofDescriptor(ExprCompiler.class.descriptorString());
    switch (op) {
      case ADD -> code.dadd();
      case SUB -> code.dsub();
      case MUL -> code.dmul();
      case DIV -> code.ddiv();
      case MIN -> code.invokestatic(compiler, "min", TWO_DOUBLES);
      case MAX -> code.invokestatic(compiler, "max", TWO_DOUBLES);
      case MOD, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, EQ, NE, LT, LE, GT, GE, AND, OR ->
          throw new IllegalArgumentException(op.text() + " of floats");
    }
  }

  private void integerBinary(BinaryOp op, DType dtype, boolean divides) {
    boolean u64 = dtype == DType.U64;
    switch (op) {
      case ADD -> {
        code.ladd();
        wrap(dtype);
      }
      case SUB -> {
        code.lsub();
        wrap(dtype);
      }
      case MUL -> {
        code.lmul();
        wrap(dtype);
      }
      case DIV -> {
        requireDivisor(divides);
        code.invokestatic(u64 ? LONG : MATH, u64 ? "divideUnsigned" : "floorDiv", TWO_LONGS);
        if (!u64) {
          wrap(dtype);
        }
      }
      case MOD -> {
        requireDivisor(divides);
        code.invokestatic(u64 ? LONG : MATH, u64 ? "remainderUnsigned" : "floorMod", TWO_LONGS);
      }
      case MIN, MAX -> code.invokestatic(MATH, op == BinaryOp.MIN ? "min" : "max", TWO_LONGS);
      case BIT_AND, AND -> code.land();
      case BIT_OR, OR -> code.lor();
      case BIT_XOR -> code.lxor();
      case SHL -> {
        code.l2i().lshl();
        wrap(dtype);
      }
      case SHR -> {
        code.l2i();
        if (u64) {
          code.lushr();
        } else {
          code.lshr();
        }
      }
      case EQ, NE, LT, LE, GT, GE -> throw new IllegalArgumentException(op.text());
    }
  }

  private void requireDivisor(boolean divides) {
    if (divides) {
      code.invokestatic(CODE, "divisor", MethodTypeDesc.of(CD_long, CD_long));
    }
  }

  /** The low bits of a {@code long}, as an integer of the type. */
  void wrap(DType dtype) {
    switch (dtype) {
      case I8 -> code.l2i().i2b().i2l();
      case U8 -> code.loadConstant(0xFFL).land();
      case I32 -> code.l2i().i2l();
      case U32 -> code.loadConstant(0xFFFF_FFFFL).land();
      case BOOL -> code.lconst_1().land();
      case I64, U64, F8E4M3, F8E5M2, F16, BF16, F32, F64, MBARRIER, HANDLE -> {}
    }
  }

  /** Two values become an {@code int} to be compared with 0; with NaN, comparisons fail. */
  void compare(BinaryOp op, DType dtype) {
    boolean less = op == BinaryOp.LT || op == BinaryOp.LE;
    if (!dtype.isFloat()) {
      code.lcmp();
    } else if (dtype == DType.F64) {
      if (less) {
        code.dcmpg();
      } else {
        code.dcmpl();
      }
    } else if (less) {
      code.fcmpg();
    } else {
      code.fcmpl();
    }
  }

  /** Goes to the label unless the comparison that has been made holds. */
  void jumpUnless(BinaryOp op, Label no) {
    switch (op) {
      case EQ -> code.ifne(no);
      case NE -> code.ifeq(no);
      case LT -> code.ifge(no);
      case LE -> code.ifgt(no);
      case GT -> code.ifle(no);
      case GE -> code.iflt(no);
      case ADD, SUB, MUL, DIV, MOD, MIN, MAX, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, AND, OR ->
          throw new IllegalArgumentException(op.text());
    }
  }

  /** A value of a float type becomes {@code double}. */
  void toDouble(DType from) {
    if (from != DType.F64) {
      code.f2d();
    }
  }

  /** A value of one type becomes one of another. */
  void cast(DType from, DType to) {
    if (!from.isFloat() && !to.isFloat()) {
      if (to != DType.BOOL) {
        wrap(to);
      } else if (from != DType.BOOL) {
        Label no = code.newLabel();
        Label end = code.newLabel();
        code.lconst_0().lcmp().ifeq(no);
        code.lconst_1().goto_(end).labelBinding(no).lconst_0().labelBinding(end);
      }
    } else if (!to.isFloat()) {
      toDouble(from);
      if (to == DType.I32) {
        code.d2i().i2l();
      } else {
        code.loadConstant(to.ordinal());
        code.invokestatic(CODE, "toInteger", MethodTypeDesc.of(CD_long, CD_double, CD_int));
      }
    } else if (from.isFloat()) {
      castReal(from, to);
    } else if (from == DType.U64) {
      code.loadConstant(to.ordinal());
      code.invokestatic(CODE, "fromU64", MethodTypeDesc.of(CD_double, CD_long, CD_int));
      fromDouble(to);
    } else if (to == DType.F64) {
      code.l2d();
    } else if (to == DType.F32) {
      code.l2f();
    } else {
      code.l2d();
      round(to);
    }
  }

  private void castReal(DType from, DType to) {
    if (to == DType.F64) {
      toDouble(from);
    } else if (to == DType.F32) {
      if (from == DType.F64) {
        code.d2f();
      }
    } else {
      toDouble(from);
      round(to);
    }
  }

  /** A {@code double} as values of the type are pushed. */
  private void fromDouble(DType to) {
    if (to != DType.F64) {
      code.d2f();
    }
  }

  private void round(DType to) {
    code.loadConstant(to.ordinal());
    code.invokestatic(CODE, "round", MethodTypeDesc.of(CD_float, CD_double, CD_int));
  }

  /** A value becomes its bits, in the low bits of a {@code long}. */
  void toBits(DType dtype) {
    if (dtype == DType.F32) {
      code.invokestatic(FLOAT, "floatToRawIntBits", MethodTypeDesc.of(CD_int, CD_float));
      code.i2l();
    } else if (dtype.isFloat()) {
      toDouble(dtype);
      code.loadConstant(dtype.ordinal());
      code.invokestatic(CODE, "bits", MethodTypeDesc.of(CD_long, CD_double, CD_int));
    }
  }

  /** Bits become the value that they are. */
  void fromBits(DType to) {
    if (!to.isFloat()) {
      wrap(to);
    } else if (to == DType.F32) {
      code.l2i().invokestatic(FLOAT, "intBitsToFloat", MethodTypeDesc.of(CD_float, CD_int));
    } else {
      code.loadConstant(to.ordinal());
      code.invokestatic(CODE, "ofBits", MethodTypeDesc.of(CD_double, CD_long, CD_int));
      fromDouble(to);
    }
  }

  /** A function of values of a type. */
  public void function(MathOp op, DType dtype) {
    if (!dtype.isFloat()) {
      code.invokestatic(MATH, "abs", MethodTypeDesc.of(CD_long, CD_long));
      wrap(dtype);
      return;
    }
    ClassDesc type = dtype == DType.F64 ? CD_double : CD_float;
    switch (op) {
      case FMA -> code.invokestatic(MATH, "fma", MethodTypeDesc.of(type, type, type, type));
      case POW ->
          code.invokestatic(
              dtype == DType.F64 ? MATH : REGION_MATH, "pow", MethodTypeDesc.of(type, type, type));
      case EXP,
          EXP2,
          LOG,
          SQRT,
          RSQRT,
          SIN,
          COS,
          TANH,
          ERF,
          ABS,
          FLOOR,
          CEIL,
          EXP2_APPROX,
          TANH_APPROX,
          RCP_APPROX,
          SIN_APPROX,
          COS_APPROX -> {
        code.loadConstant(op.ordinal());
        code.invokestatic(
            dtype == DType.F64 ? CODE : REGION_MATH,
            "apply",
            MethodTypeDesc.of(type, type, CD_int));
      }
    }
  }
}
