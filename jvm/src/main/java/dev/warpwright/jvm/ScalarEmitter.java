package dev.warpwright.jvm;

import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_short;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.DType;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.Var;
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
  private static final ClassDesc INTEGER = ClassDesc.of("java.lang", "Integer");
  private static final ClassDesc LONG = ClassDesc.of("java.lang", "Long");
  private static final ClassDesc FLOAT = ClassDesc.of("java.lang", "Float");
  private static final ClassDesc DOUBLE = ClassDesc.of("java.lang", "Double");

  private final MethodEmitter method;
  private final CodeBuilder code;

  ScalarEmitter(MethodEmitter method, CodeBuilder code) {
    this.method = method;
    this.code = code;
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
        cast(c.a().type().dtype(), c.type().dtype());
      }
      case Expr.Bitcast c -> {
        emit(c.a());
        bitcast(c.a().type().dtype(), c.type().dtype());
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

  private static CodeBuilder helper(
      CodeBuilder code, String name, ClassDesc result, ClassDesc... args) {
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
  private void wrap(DType dtype) {
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

  private static MethodTypeDesc ii() {
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
      emit(condition);
      if (when) {
        code.ifne(target);
      } else {
        code.ifeq(target);
      }
    }
  }

  private void compare(Expr.Binary b, boolean when, Label target) {
    emit(b.a());
    emit(b.b());
    DType dtype = b.a().type().dtype();
    boolean less = b.op() == BinaryOp.LT || b.op() == BinaryOp.LE;
    switch (JvmTypes.scalarKind(dtype)) {
      case INT -> {
        if (dtype != DType.U32) {
          intBranch(when ? b.op() : opposite(b.op()), target);
          return;
        }
        code.invokestatic(INTEGER, "compareUnsigned", ii());
      }
      case LONG -> {
        if (dtype == DType.U64) {
          code.invokestatic(LONG, "compareUnsigned", MethodTypeDesc.of(CD_int, CD_long, CD_long));
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

  // ---- conversions -------------------------------------------------------------------------

  private void cast(DType from, DType to) {
    if (from == to) {
      return;
    }
    TypeKind source = JvmTypes.scalarKind(from);
    switch (to) {
      case BOOL -> toBool(source);
      case F64 -> toDouble(from);
      case F32 -> {
        switch (source) {
          case INT -> {
            if (from == DType.U32) {
              toDouble(from);
              code.d2f();
            } else {
              code.i2f();
            }
          }
          case LONG -> {
            if (from == DType.U64) {
              toDouble(from);
              code.d2f();
            } else {
              code.l2f();
            }
          }
          case DOUBLE -> code.d2f();
          case FLOAT, BOOLEAN, BYTE, CHAR, SHORT, REFERENCE, VOID -> {}
        }
      }
      case F16, BF16, F8E4M3, F8E5M2 -> {
        toDouble(from);
        String name =
            switch (to) {
              case F16 -> "roundF16";
              case BF16 -> "roundBf16";
              case F8E4M3 -> "roundE4m3";
              default -> "roundE5m2";
            };
        helper(code, name, CD_float, CD_double);
      }
      case I8, U8, I32, U32, I64, U64 -> toInteger(from, to);
      case MBARRIER, HANDLE -> throw JvmTypes.refused("a cast to " + to);
    }
  }

  private void toBool(TypeKind source) {
    switch (source) {
      case INT -> code.iconst_0();
      case LONG -> code.lconst_0().lcmp().iconst_0();
      case FLOAT -> code.fconst_0().fcmpl().iconst_0();
      case DOUBLE -> code.dconst_0().dcmpl().iconst_0();
      case BOOLEAN, BYTE, CHAR, SHORT, REFERENCE, VOID ->
          throw new IllegalArgumentException("cast to bool");
    }
    Label no = code.newLabel();
    Label end = code.newLabel();
    code.if_icmpeq(no).iconst_1().goto_(end).labelBinding(no).iconst_0().labelBinding(end);
  }

  private void toDouble(DType from) {
    switch (JvmTypes.scalarKind(from)) {
      case INT -> {
        if (from == DType.U32) {
          code.i2l().loadConstant(0xFFFF_FFFFL).land().l2d();
        } else {
          code.i2d();
        }
      }
      case LONG -> {
        if (from == DType.U64) {
          helper(code, "fromU64", CD_double, CD_long);
        } else {
          code.l2d();
        }
      }
      case FLOAT -> code.f2d();
      case DOUBLE, BOOLEAN, BYTE, CHAR, SHORT, REFERENCE, VOID -> {}
    }
  }

  private void toInteger(DType from, DType to) {
    switch (JvmTypes.scalarKind(from)) {
      case INT -> {
        if (to == DType.I64 || to == DType.U64) {
          code.i2l();
          if (from == DType.U32) {
            code.loadConstant(0xFFFF_FFFFL).land();
          }
        } else {
          wrap(to);
        }
      }
      case LONG -> {
        if (to != DType.I64 && to != DType.U64) {
          code.l2i();
          wrap(to);
        }
      }
      case FLOAT, DOUBLE -> {
        toDouble(from);
        switch (to) {
          case I32 -> code.d2i();
          case I64 -> code.d2l();
          case U32 -> helper(code, "toU32", CD_int, CD_double);
          case U64 -> helper(code, "toU64", CD_long, CD_double);
          case I8 -> saturated(-128, 127);
          default -> saturated(0, 255);
        }
      }
      case BOOLEAN, BYTE, CHAR, SHORT, REFERENCE, VOID ->
          throw new IllegalArgumentException("cast to " + to);
    }
  }

  private void saturated(int low, int high) {
    code.loadConstant(low).loadConstant(high);
    helper(code, "toInt", CD_int, CD_double, CD_int, CD_int);
  }

  private void bitcast(DType from, DType to) {
    TypeKind source = JvmTypes.scalarKind(from);
    TypeKind target = JvmTypes.scalarKind(to);
    if (source == TypeKind.FLOAT && from != DType.F32
        || target == TypeKind.FLOAT && to != DType.F32) {
      throw JvmTypes.refused("a bitcast from " + from + " to " + to);
    }
    if (source == target) {
      wrap(to);
    } else if (source == TypeKind.FLOAT) {
      code.invokestatic(FLOAT, "floatToRawIntBits", MethodTypeDesc.of(CD_int, CD_float));
    } else if (target == TypeKind.FLOAT) {
      code.invokestatic(FLOAT, "intBitsToFloat", MethodTypeDesc.of(CD_float, CD_int));
    } else if (source == TypeKind.DOUBLE) {
      code.invokestatic(DOUBLE, "doubleToRawLongBits", MethodTypeDesc.of(CD_long, CD_double));
    } else {
      code.invokestatic(DOUBLE, "longBitsToDouble", MethodTypeDesc.of(CD_double, CD_long));
    }
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
      toDouble(dtype);
    }
    ClassDesc owner =
        switch (op) {
          case EXP, LOG, SQRT, SIN, COS, TANH, POW, FLOOR, CEIL, TANH_APPROX, ABS, FMA -> MATH;
          case EXP2, RSQRT, ERF, EXP2_APPROX, RCP_APPROX -> HOST_MATH;
        };
    String name =
        switch (op) {
          case EXP2_APPROX -> "exp2";
          case TANH_APPROX -> "tanh";
          case RCP_APPROX -> "rcp";
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
