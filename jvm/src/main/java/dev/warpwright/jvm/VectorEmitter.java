package dev.warpwright.jvm;

import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_void;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;

/**
 * Writes vector expressions. Vectors of f16 and bf16 are held as the f32 vectors of the same
 * values; vectors of bool as masks, made for the type that they are used with.
 */
final class VectorEmitter {
  private static final ClassDesc OPERATOR = JvmTypes.OPERATORS;
  private static final ClassDesc BINARY = OPERATOR.nested("Binary");
  private static final ClassDesc ASSOCIATIVE = OPERATOR.nested("Associative");

  private final MethodEmitter method;
  private final CodeBuilder code;
  private final ScalarEmitter scalars;
  private final Masks masks;
  private final VectorCasts casts;
  private final NarrowFloats narrow;

  VectorEmitter(MethodEmitter method, CodeBuilder code, ScalarEmitter scalars) {
    this.method = method;
    this.code = code;
    this.scalars = scalars;
    this.masks = new Masks(this, code);
    this.narrow = new NarrowFloats(this, code);
    this.casts = new VectorCasts(this, code, narrow);
  }

  ScalarEmitter scalars() {
    return scalars;
  }

  void emit(Expr e) {
    Type type = e.type();
    method.countVectorInstruction();
    switch (e) {
      case Var v -> code.aload(method.slot(v));
      case Expr.IntImm imm -> throw JvmTypes.refused("a scalar where a vector is needed: " + e);
      case Expr.FloatImm imm -> throw JvmTypes.refused("a scalar where a vector is needed: " + e);
      case Expr.Binary b -> binary(b);
      case Expr.Unary u -> unary(u);
      case Expr.Select s -> masks.select(s);
      case Expr.Cast c -> casts.cast(c);
      case Expr.Bitcast c -> {
        emit(c.a());
        casts.bitcast(c.a().type(), type);
      }
      case Expr.Load(Buffer buffer, var indices) -> {
        int slot = method.registerSlot(buffer, indices);
        if (slot >= 0) {
          code.aload(slot);
        } else {
          load(buffer, Indexing.offset(buffer, indices), type);
        }
      }
      case Expr.AddressOf a -> throw JvmTypes.refused("an address in a host kernel");
      case Expr.Ramp(Expr base, long stride, int lanes) -> {
        broadcast(base, type);
        code.loadConstant((int) stride);
        ClassDesc vector = JvmTypes.vectorDesc(type.dtype());
        code.invokevirtual(vector, "addIndex", MethodTypeDesc.of(vector, CD_int));
      }
      case Expr.Broadcast(Expr value, int lanes) -> broadcast(value, type);
      case Expr.Call c -> call(c);
    }
  }

  // ---- species -----------------------------------------------------------------------------

  void species(Type type) {
    ClassDesc vector = JvmTypes.vectorDesc(type.dtype());
    code.getstatic(vector, JvmTypes.speciesField(type), JvmTypes.SPECIES);
  }

  /** The species of the 16-bit elements in memory, for as many lanes. */
  private void shortSpecies(int lanes) {
    code.getstatic(JvmTypes.SHORT_VECTOR, JvmTypes.speciesField(16 * lanes), JvmTypes.SPECIES);
  }

  private void broadcast(Expr value, Type type) {
    species(type);
    scalars.emit(value);
    ClassDesc vector = JvmTypes.vectorDesc(type.dtype());
    ClassDesc scalar = JvmTypes.desc(type.withLanes(1));
    code.invokestatic(vector, "broadcast", MethodTypeDesc.of(vector, JvmTypes.SPECIES, scalar));
  }

  // ---- memory ------------------------------------------------------------------------------

  private void load(Buffer buffer, Expr offset, Type type) {
    DType dtype = buffer.dtype();
    switch (dtype) {
      case F32, F64, I32, U32, I64, U64 -> {
        species(type);
        method.loadArray(buffer);
        scalars.emit(offset);
        ClassDesc vector = JvmTypes.vectorDesc(dtype);
        code.invokestatic(
            vector,
            "fromArray",
            MethodTypeDesc.of(vector, JvmTypes.SPECIES, JvmTypes.arrayDesc(dtype), CD_int));
      }
      case F16, BF16 -> {
        shortSpecies(type.lanes());
        method.loadArray(buffer);
        scalars.emit(offset);
        code.invokestatic(
            JvmTypes.SHORT_VECTOR,
            "fromArray",
            MethodTypeDesc.of(
                JvmTypes.SHORT_VECTOR, JvmTypes.SPECIES, JvmTypes.arrayDesc(dtype), CD_int));
        narrow.widen(dtype, type.lanes());
      }
      case BOOL, I8, U8, F8E4M3, F8E5M2, MBARRIER, HANDLE ->
          throw JvmTypes.refused("a vector load of " + dtype);
    }
  }

  void store(Buffer buffer, Expr offset, Expr value) {
    DType dtype = buffer.dtype();
    switch (dtype) {
      case F32, F64, I32, U32, I64, U64 -> {
        emit(value);
        method.loadArray(buffer);
        scalars.emit(offset);
        code.invokevirtual(
            JvmTypes.vectorDesc(dtype),
            "intoArray",
            MethodTypeDesc.of(CD_void, JvmTypes.arrayDesc(dtype), CD_int));
      }
      case F16, BF16 -> {
        emit(value);
        narrow.narrow(dtype, value.type().lanes());
        method.loadArray(buffer);
        scalars.emit(offset);
        code.invokevirtual(
            JvmTypes.SHORT_VECTOR,
            "intoArray",
            MethodTypeDesc.of(CD_void, JvmTypes.arrayDesc(dtype), CD_int));
      }
      case BOOL, I8, U8, F8E4M3, F8E5M2, MBARRIER, HANDLE ->
          throw JvmTypes.refused("a vector store of " + dtype);
    }
  }

  // ---- operators ---------------------------------------------------------------------------

  private void unary(Expr.Unary u) {
    if (u.op() == UnaryOp.NOT) {
      throw JvmTypes.refused("a vector of bool as a value");
    }
    emit(u.a());
    ClassDesc vector = JvmTypes.vectorDesc(u.type().dtype());
    code.invokevirtual(vector, u.op() == UnaryOp.NEG ? "neg" : "not", MethodTypeDesc.of(vector));
  }

  private void binary(Expr.Binary b) {
    BinaryOp op = b.op();
    DType dtype = b.type().dtype();
    if (dtype == DType.BOOL) {
      throw JvmTypes.refused("a vector of bool as a value");
    }
    if (dtype.isFloat() && dtype != DType.F32 && dtype != DType.F64) {
      throw JvmTypes.refused("arithmetic on " + dtype + "; cast to f32 first");
    }
    switch (op) {
      case ADD -> method2(b, "add");
      case SUB -> method2(b, "sub");
      case MUL -> method2(b, "mul");
      case DIV -> {
        if (dtype.isFloat()) {
          method2(b, "div");
        } else {
          powerOfTwo(b);
        }
      }
      case MOD -> powerOfTwo(b);
      case MIN, MAX -> {
        if (dtype.isFloat()) {
          floatMinMax(b);
        } else if (dtype.isUnsigned()) {
          throw JvmTypes.refused(op.text() + " of vectors of " + dtype);
        } else {
          method2(b, op.text());
        }
      }
      case BIT_AND -> associative(b, "AND");
      case BIT_OR -> associative(b, "OR");
      case BIT_XOR -> associative(b, "XOR");
      case SHL -> shift(b, "LSHL");
      case SHR -> shift(b, dtype.isUnsigned() ? "LSHR" : "ASHR");
      case EQ, NE, LT, LE, GT, GE, AND, OR -> throw new IllegalArgumentException(b.toString());
    }
  }

  private void method2(Expr.Binary b, String name) {
    emit(b.a());
    emit(b.b());
    ClassDesc vector = JvmTypes.vectorDesc(b.type().dtype());
    code.invokevirtual(vector, name, MethodTypeDesc.of(vector, JvmTypes.VECTOR));
  }

  private void associative(Expr.Binary b, String operator) {
    ClassDesc vector = JvmTypes.vectorDesc(b.type().dtype());
    emit(b.a());
    code.getstatic(OPERATOR, operator, ASSOCIATIVE);
    emit(b.b());
    code.invokevirtual(vector, "lanewise", MethodTypeDesc.of(vector, BINARY, JvmTypes.VECTOR));
  }

  private void shift(Expr.Binary b, String operator) {
    ClassDesc vector = JvmTypes.vectorDesc(b.type().dtype());
    emit(b.a());
    code.getstatic(OPERATOR, operator, BINARY);
    emit(b.b());
    code.invokevirtual(vector, "lanewise", MethodTypeDesc.of(vector, BINARY, JvmTypes.VECTOR));
  }

  /** Floor division and remainder by 2ⁿ are a shift and a mask. */
  private void powerOfTwo(Expr.Binary b) {
    if (!(b.b() instanceof Expr.Broadcast(Expr.IntImm imm, int lanes))
        || Long.bitCount(imm.value()) != 1) {
      throw JvmTypes.refused("division of integer vectors by anything but a power of two");
    }
    boolean div = b.op() == BinaryOp.DIV;
    long operand = div ? Long.numberOfTrailingZeros(imm.value()) : imm.value() - 1;
    Expr constant = new Expr.Broadcast(new Expr.IntImm(imm.type(), operand), lanes);
    emit(new Expr.Binary(div ? BinaryOp.SHR : BinaryOp.BIT_AND, b.a(), constant));
  }

  /**
   * The IR's minimum and maximum give the other operand where one is NaN. A comparison with a
   * constant does, if the constant is not NaN and no zero of the wrong sign.
   */
  private void floatMinMax(Expr.Binary b) {
    boolean max = b.op() == BinaryOp.MAX;
    if (b.b() instanceof Expr.Broadcast(Expr.FloatImm imm, int lanes)
        && !Double.isNaN(imm.value())
        && Double.doubleToRawLongBits(imm.value())
            != Double.doubleToRawLongBits(max ? -0.0 : 0.0)) {
      emit(b.b());
      int constant = keep();
      emit(b.a());
      int a = keep();
      code.aload(constant).aload(a);
      masks.mask(
          () -> code.aload(a), () -> code.aload(constant), max ? "GT" : "LT", b.type(), b.type());
      masks.blend(b.type());
      return;
    }
    emit(b.a());
    int a = keep();
    emit(b.b());
    int c = keep();
    ClassDesc vector = JvmTypes.vectorDesc(b.type().dtype());
    code.aload(a).aload(c);
    code.invokevirtual(vector, b.op().text(), MethodTypeDesc.of(vector, JvmTypes.VECTOR));
    code.aload(c);
    masks.mask(() -> code.aload(a), () -> code.aload(a), "NE", b.type(), b.type());
    masks.blend(b.type());
    code.aload(a);
    masks.mask(() -> code.aload(c), () -> code.aload(c), "NE", b.type(), b.type());
    masks.blend(b.type());
  }

  /** Keeps the vector on the stack in a new local variable. */
  int keep() {
    int slot = method.newLocal(TypeKind.REFERENCE);
    code.astore(slot);
    return slot;
  }

  // ---- functions ---------------------------------------------------------------------------

  private void call(Expr.Call c) {
    MathOp op =
        switch (c.op()) {
          case MathOp m -> m;
          case Intrinsic i -> throw JvmTypes.refused("the intrinsic " + i.text());
        };
    ClassDesc vector = JvmTypes.vectorDesc(c.type().dtype());
    switch (op) {
      case FMA -> {
        // (c, a, b) would suit the machine as well; the operands' order is free.
        emit(c.args().get(0));
        emit(c.args().get(1));
        emit(c.args().get(2));
        code.invokevirtual(
            vector, "fma", MethodTypeDesc.of(vector, JvmTypes.VECTOR, JvmTypes.VECTOR));
      }
      case ABS -> {
        emit(c.args().getFirst());
        code.invokevirtual(vector, "abs", MethodTypeDesc.of(vector));
      }
      case SQRT -> {
        emit(c.args().getFirst());
        code.invokevirtual(vector, "sqrt", MethodTypeDesc.of(vector));
      }
      case RSQRT -> {
        one(c.type());
        emit(c.args().getFirst());
        code.invokevirtual(vector, "sqrt", MethodTypeDesc.of(vector));
        code.invokevirtual(vector, "div", MethodTypeDesc.of(vector, JvmTypes.VECTOR));
      }
      case RCP_APPROX -> {
        one(c.type());
        emit(c.args().getFirst());
        code.invokevirtual(vector, "div", MethodTypeDesc.of(vector, JvmTypes.VECTOR));
      }
      case EXP -> slow(c, HostMath.EXP);
      case EXP2, EXP2_APPROX -> slow(c, HostMath.EXP2);
      case LOG -> slow(c, HostMath.LOG);
      case SIN, SIN_APPROX -> slow(c, HostMath.SIN);
      case COS, COS_APPROX -> slow(c, HostMath.COS);
      case TANH, TANH_APPROX -> slow(c, HostMath.TANH);
      case ERF -> slow(c, HostMath.ERF);
      case POW -> slow(c, HostMath.POW);
      case FLOOR -> slow(c, HostMath.FLOOR);
      case CEIL -> slow(c, HostMath.CEIL);
    }
  }

  private void one(Type type) {
    broadcast(new Expr.FloatImm(type.withLanes(1), 1), type);
  }

  private void slow(Expr.Call c, int function) {
    ClassDesc vector = JvmTypes.vectorDesc(c.type().dtype());
    emit(c.args().getFirst());
    emit(c.args().getLast());
    code.loadConstant(function)
        .invokestatic(
            ScalarEmitter.HOST_MATH, "lanes", MethodTypeDesc.of(vector, vector, vector, CD_int));
  }
}
