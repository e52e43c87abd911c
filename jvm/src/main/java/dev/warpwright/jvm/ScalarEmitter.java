package dev.warpwright.jvm;

import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_short;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.Arrays;

/** Writes scalar expressions: each leaves its value on the stack. */
final class ScalarEmitter {
  static final ClassDesc HOST_MATH = ClassDesc.of("dev.warpwright.jvm", "HostMath");
  private static final ClassDesc MATH = ClassDesc.of("java.lang", "Math");
  static final ClassDesc INTEGER = ClassDesc.of("java.lang", "Integer");
  static final ClassDesc LONG = ClassDesc.of("java.lang", "Long");

  private final MethodEmitter method;
  private final CodeBuilder code;
  private final Branches branches;
  private final ScalarCasts casts;

  ScalarEmitter(MethodEmitter method, CodeBuilder code) {
    this.method = method;
    this.code = code;
    this.branches = new Branches(this, code);
    this.casts = new ScalarCasts(this, code);
  }

  void emit(Expr e) {
    if (!e.type().isScalar()) {
      throw JvmTypes.refused("a vector where a scalar is needed: " + e);
    }
    switch (e) {
      case Var v -> code.loadLocal(JvmTypes.kind(v.type()), method.slot(v));
      case Expr.IntImm imm -> {
        if (JvmTypes.scalarKind(imm.type().dtype()) == TypeKind.LONG) {
          code.loadConstant(imm.value());
        } else {
          code.loadConstant((int) imm.value());
        }
      }
      case Expr.FloatImm imm -> {
        if (imm.type().dtype() == DType.F64) {
          code.loadConstant(imm.value());
        } else {
          code.loadConstant((float) imm.value());
        }
      }
      case Expr.Binary b -> binary(b);
      case Expr.Unary u -> unary(u);
      case Expr.Select(Expr condition, Expr then, Expr otherwise) -> {
        Label no = code.newLabel();
        Label end = code.newLabel();
        jump(condition, false, no);
        emit(then);
        code.goto_(end).labelBinding(no);
        emit(otherwise);
        code.labelBinding(end);
      }
      case Expr.Cast c -> {
        emit(c.a());
        casts.cast(c.a().type().dtype(), c.type().dtype());
      }
      case Expr.Bitcast c -> {
        emit(c.a());
        casts.bitcast(c.a().type().dtype(), c.type().dtype());
      }
      case Expr.Load(var buffer, var indices) -> {
        int slot = method.registerSlot(buffer, indices);
        if (slot >= 0) {
          code.loadLocal(JvmTypes.scalarKind(buffer.dtype()), slot);
        } else {
          method.loadArray(buffer);
          emit(Indexing.offset(buffer, indices));
          loadElement(buffer.dtype());
        }
      }
      case Expr.AddressOf a -> throw JvmTypes.refused("an address in a host kernel");
      case Expr.Ramp r -> throw JvmTypes.refused("a ramp of one lane");
      case Expr.Broadcast b -> throw JvmTypes.refused("a broadcast to one lane");
      case Expr.Call c -> call(c);
    }
  }

  // ---- memory ------------------------------------------------------------------------------

  /** Array and index on the stack become the element's value. */
  private void loadElement(DType dtype) {
    switch (dtype) {
      case BOOL, I8 -> code.baload();
      case U8 -> code.baload().loadConstant(0xFF).iand();
      case I32, U32 -> code.iaload();
      case I64, U64 -> code.laload();
      case F32 -> code.faload();
      case F64 -> code.daload();
      case F16 -> helper(code.saload(), "loadF16", CD_float, CD_short);
      case BF16 -> helper(code.saload(), "loadBf16", CD_float, CD_short);
      case F8E4M3 -> helper(code.baload(), "loadE4m3", CD_float, ConstantDescs.CD_byte);
      case F8E5M2 -> helper(code.baload(), "loadE5m2", CD_float, ConstantDescs.CD_byte);
      case MBARRIER, HANDLE -> throw JvmTypes.refused("a load of " + dtype);
    }
  }

  /** Array, index and value on the stack are stored. */
  void storeElement(DType dtype) {
    switch (dtype) {
      case BOOL, I8, U8 -> code.bastore();
      case I32, U32 -> code.iastore();
      case I64, U64 -> code.lastore();
      case F32 -> code.fastore();
      case F64 -> code.dastore();
      case F16 -> helper(code, "storeF16", CD_short, CD_float).sastore();
      case BF16 -> helper(code, "storeBf16", CD_short, CD_float).sastore();
      case F8E4M3 -> helper(code, "storeE4m3", ConstantDescs.CD_byte, CD_float).bastore();
      case F8E5M2 -> helper(code, "storeE5m2", ConstantDescs.CD_byte, CD_float).bastore();
      case MBARRIER, HANDLE -> throw JvmTypes.refused("a store of " + dtype);
    }
  }

  static CodeBuilder helper(CodeBuilder code, String name, ClassDesc result, ClassDesc... args) {
    return code.invokestatic(HOST_MATH, name, MethodTypeDesc.of(result, args));
  }

  // ---- operators ---------------------------------------------------------------------------

  private void unary(Expr.Unary u) {
    if (u.op() == UnaryOp.NOT) {
      emit(u.a());
      code.iconst_1().ixor();
      return;
    }
    emit(u.a());
    DType dtype = u.type().dtype();
    switch (JvmTypes.scalarKind(dtype)) {
      case INT -> {
        if (u.op() == UnaryOp.NEG) {
          code.ineg();
        } else {
          code.iconst_m1().ixor();
        }
        wrap(dtype);
      }
      case LONG -> {
        if (u.op() == UnaryOp.NEG) {
          code.lneg();
        } else {
          code.loadConstant(-1L).lxor();
        }
      }
      case FLOAT -> code.fneg();
      case DOUBLE -> code.dneg();
      case BOOLEAN, BYTE, CHAR, SHORT, REFERENCE, VOID ->
          throw new IllegalArgumentException("operand of " + u);
    }
  }

  /** The int on the stack, the result of an operation, wrapped to a type of 8 bits. */
  void wrap(DType dtype) {
    if (dtype == DType.I8) {
      code.i2b();
    } else if (dtype == DType.U8) {
      code.loadConstant(0xFF).iand();
    }
  }

  private void binary(Expr.Binary b) {
    BinaryOp op = b.op();
    if (op.isComparison() || op == BinaryOp.AND || op == BinaryOp.OR) {
      asValue(b);
      return;
    }
    DType dtype = b.type().dtype();
    switch (JvmTypes.scalarKind(dtype)) {
      case INT -> {
        intBinary(b, dtype);
        wrap(dtype);
      }
      case LONG -> longBinary(b, dtype);
      case FLOAT, DOUBLE -> floatBinary(b, dtype);
      case BOOLEAN, BYTE, CHAR, SHORT, REFERENCE, VOID ->
          throw new IllegalArgumentException("operands of " + b);
    }
  }

  private void intBinary(Expr.Binary b, DType dtype) {
    boolean unsigned = dtype == DType.U32;
    if ((b.op() == BinaryOp.DIV || b.op() == BinaryOp.MOD) && divideByPower(b, unsigned)) {
      return;
    }
    emit(b.a());
    emit(b.b());
    boolean plain = dtype == DType.U8 || (isNonNegative(b.a()) && isNonNegative(b.b()));
    switch (b.op()) {
      case ADD -> code.iadd();
      case SUB -> code.isub();
      case MUL -> code.imul();
      case DIV -> {
        if (unsigned) {
          code.invokestatic(INTEGER, "divideUnsigned", ii());
        } else if (plain) {
          code.idiv();
        } else {
          code.invokestatic(MATH, "floorDiv", ii());
        }
      }
      case MOD -> {
        if (unsigned) {
          code.invokestatic(INTEGER, "remainderUnsigned", ii());
        } else if (plain) {
          code.irem();
        } else {
          code.invokestatic(MATH, "floorMod", ii());
        }
      }
      case MIN, MAX -> {
        String name = b.op() == BinaryOp.MIN ? "min" : "max";
        if (unsigned) {
          throw JvmTypes.refused(name + " of u32");
        }
        code.invokestatic(MATH, name, ii());
      }
      case BIT_AND -> code.iand();
      case BIT_OR -> code.ior();
      case BIT_XOR -> code.ixor();
      case SHL -> code.ishl();
      case SHR -> {
        if (unsigned || dtype == DType.U8) {
          code.iushr();
        } else {
          code.ishr();
        }
      }
      case EQ, NE, LT, LE, GT, GE, AND, OR -> throw new IllegalArgumentException(b.toString());
    }
  }

  /** Division by 2ⁿ rounds down when it is a shift, whatever the sign. */
  private boolean divideByPower(Expr.Binary b, boolean unsigned) {
    if (!(b.b() instanceof Expr.IntImm imm) || Long.bitCount(imm.value()) != 1) {
      return false;
    }
    emit(b.a());
    if (b.op() == BinaryOp.MOD) {
      code.loadConstant((int) (imm.value() - 1)).iand();
      return true;
    }
    code.loadConstant(Long.numberOfTrailingZeros(imm.value()));
    if (unsigned) {
      code.iushr();
    } else {
      code.ishr();
    }
    return true;
  }

  private void longBinary(Expr.Binary b, DType dtype) {
    boolean unsigned = dtype == DType.U64;
    emit(b.a());
    emit(b.b());
    if (b.op() == BinaryOp.SHL || b.op() == BinaryOp.SHR) {
      code.l2i();
    }
    switch (b.op()) {
      case ADD -> code.ladd();
      case SUB -> code.lsub();
      case MUL -> code.lmul();
      case DIV ->
          code.invokestatic(unsigned ? LONG : MATH, unsigned ? "divideUnsigned" : "floorDiv", ll());
      case MOD ->
          code.invokestatic(
              unsigned ? LONG : MATH, unsigned ? "remainderUnsigned" : "floorMod", ll());
      case MIN, MAX -> {
        String name = b.op() == BinaryOp.MIN ? "min" : "max";
        if (unsigned) {
          throw JvmTypes.refused(name + " of u64");
        }
        code.invokestatic(MATH, name, ll());
      }
      case BIT_AND -> code.land();
      case BIT_OR -> code.lor();
      case BIT_XOR -> code.lxor();
      case SHL -> code.lshl();
      case SHR -> {
        if (unsigned) {
          code.lushr();
        } else {
          code.lshr();
        }
      }
      case EQ, NE, LT, LE, GT, GE, AND, OR -> throw new IllegalArgumentException(b.toString());
    }
  }

  private void floatBinary(Expr.Binary b, DType dtype) {
    if (dtype != DType.F32 && dtype != DType.F64) {
      throw JvmTypes.refused("arithmetic on " + dtype + "; cast to f32 first");
    }
    boolean single = dtype == DType.F32;
    emit(b.a());
    emit(b.b());
    switch (b.op()) {
      case ADD -> add(single);
      case SUB -> {
        if (single) {
          code.fsub();
        } else {
          code.dsub();
        }
      }
      case MUL -> {
        if (single) {
          code.fmul();
        } else {
          code.dmul();
        }
      }
      case DIV -> {
        if (single) {
          code.fdiv();
        } else {
          code.ddiv();
        }
      }
      case MIN, MAX -> {
        ClassDesc type = single ? CD_float : CD_double;
        helper(code, b.op() == BinaryOp.MIN ? "min" : "max", type, type, type);
      }
      case MOD, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, EQ, NE, LT, LE, GT, GE, AND, OR ->
          throw JvmTypes.refused(b.op().text() + " of " + dtype);
    }
  }

  private void add(boolean single) {
    if (single) {
      code.fadd();
    } else {
      code.dadd();
    }
  }

  static MethodTypeDesc ii() {
    return MethodTypeDesc.of(CD_int, CD_int, CD_int);
  }

  private static MethodTypeDesc ll() {
    return MethodTypeDesc.of(CD_long, CD_long, CD_long);
  }

  // ---- conditions --------------------------------------------------------------------------

  private void asValue(Expr condition) {
    Label no = code.newLabel();
    Label end = code.newLabel();
    jump(condition, false, no);
    code.iconst_1().goto_(end).labelBinding(no).iconst_0().labelBinding(end);
  }

  /** Goes to the target if the condition has the given value, and on otherwise. */
  void jump(Expr condition, boolean when, Label target) {
    branches.jump(condition, when, target);
  }

  // ---- functions ---------------------------------------------------------------------------

  private void call(Expr.Call c) {
    MathOp op =
        switch (c.op()) {
          case MathOp m -> m;
          case Intrinsic i -> throw JvmTypes.refused("the intrinsic " + i.text());
        };
    DType dtype = c.type().dtype();
    TypeKind kind = JvmTypes.scalarKind(dtype);
    if (op == MathOp.ABS || op == MathOp.FMA) {
      c.args().forEach(this::emit);
      ClassDesc type = JvmTypes.desc(c.type());
      ClassDesc[] args = new ClassDesc[op.arity()];
      Arrays.fill(args, type);
      code.invokestatic(MATH, op.text(), MethodTypeDesc.of(type, args));
      return;
    }
    if (kind != TypeKind.FLOAT && kind != TypeKind.DOUBLE) {
      throw JvmTypes.refused(op + " of " + dtype);
    }
    for (Expr arg : c.args()) {
      emit(arg);
      casts.toDouble(dtype);
    }
    ClassDesc owner =
        switch (op) {
          case EXP, LOG, SQRT, SIN, COS, TANH, POW, FLOOR, CEIL, ABS, FMA -> MATH;
          case TANH_APPROX, SIN_APPROX, COS_APPROX -> MATH;
          case EXP2, RSQRT, ERF, EXP2_APPROX, RCP_APPROX -> HOST_MATH;
        };
    String name =
        switch (op) {
          case EXP2_APPROX -> "exp2";
          case TANH_APPROX -> "tanh";
          case RCP_APPROX -> "rcp";
          case SIN_APPROX -> "sin";
          case COS_APPROX -> "cos";
          case FMA, EXP, EXP2, LOG, SQRT, RSQRT, SIN, COS, TANH, ERF, POW, ABS, FLOOR, CEIL ->
              op.text();
        };
    ClassDesc[] args = new ClassDesc[op.arity()];
    Arrays.fill(args, CD_double);
    code.invokestatic(owner, name, MethodTypeDesc.of(CD_double, args));
    if (kind == TypeKind.FLOAT) {
      code.d2f();
    }
  }

  // ---- ranges ------------------------------------------------------------------------------

  /** Whether the integer is certainly not negative, provided that it does not overflow. */
  boolean isNonNegative(Expr e) {
    return switch (e) {
      case Var v -> method.isNonNegative(v);
      case Expr.IntImm imm -> imm.value() >= 0;
      case Expr.Binary(BinaryOp op, Expr a, Expr b) ->
          switch (op) {
            case ADD, MUL, DIV, MIN, SHR, BIT_OR, BIT_XOR -> isNonNegative(a) && isNonNegative(b);
            case MOD -> isNonNegative(b);
            case MAX, BIT_AND -> isNonNegative(a) || isNonNegative(b);
            case SUB, SHL -> false;
            case EQ, NE, LT, LE, GT, GE, AND, OR -> true;
          };
      case Expr.Select s -> isNonNegative(s.then()) && isNonNegative(s.otherwise());
      case Expr.Unary u -> u.op() == UnaryOp.NOT;
      case Expr.FloatImm f -> false;
      case Expr.Cast c -> false;
      case Expr.Bitcast c -> false;
      case Expr.Load l -> l.type().dtype() == DType.U8;
      case Expr.AddressOf a -> false;
      case Expr.Ramp r -> false;
      case Expr.Broadcast b -> false;
      case Expr.Call c -> false;
    };
  }
}
