package dev.warpwright.sim.region;

import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_void;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.MemoryAccess;
import dev.warpwright.sim.lane.LaneArithmetic;
import dev.warpwright.sim.lane.RegionMath;
import dev.warpwright.sim.memory.Bytes;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Expressions of a region. Integers and booleans are {@code int}, floats of all types {@code
 * float}: narrow ones have been rounded.
 */
final class RegionExprs {
  private static final ClassDesc STATE = RegionEmitter.STATE;
  private static final ClassDesc OPS = ClassDesc.ofDescriptor(RegionMath.class.descriptorString());
  private static final ClassDesc BYTES = ClassDesc.ofDescriptor(Bytes.class.descriptorString());
  private static final ClassDesc MATH = ClassDesc.of("java.lang", "Math");
  private static final ClassDesc OBJECTS = ClassDesc.of("java.util", "Objects");
  private static final MethodTypeDesc INT_INT_INT = MethodTypeDesc.of(CD_int, CD_int, CD_int);
  private static final MethodTypeDesc TWO_FLOATS = MethodTypeDesc.of(CD_float, CD_float, CD_float);
  private static final int VECTOR_BYTES = 16;

  private final RegionCode at;
  private final CodeBuilder code;

  /** Where the offsets of vectors are that this statement loads. */
  private final Map<Expr.Load, Integer> offsets = new IdentityHashMap<>();

  RegionExprs(RegionCode at) {
    this.at = at;
    this.code = at.code;
  }

  /** Makes places for the offsets of the vectors that the statement loads. */
  void beginStatement(Stmt.Store s) {
    offsets.clear();
    Walk.expressions(
        s.value(),
        e -> {
          if (e instanceof Expr.Load load && load.type().lanes() > 1) {
            int slot = code.allocateLocal(TypeKind.INT);
            code.iconst_0().istore(slot);
            offsets.put(load, slot);
          }
        });
  }

  private static boolean isReal(DType dtype) {
    return dtype.isFloat();
  }

  /** Pushes one lane of a value. */
  void value(Expr e, int lane) {
    switch (e) {
      case Expr.IntImm imm -> code.loadConstant((int) imm.value());
      case Expr.FloatImm imm -> code.loadConstant((float) imm.value());
      case Var v -> {
        if (v.type().lanes() != 1) {
          throw new RegionPlan.Unsupported("a vector variable");
        }
        if (isReal(v.type().dtype())) {
          code.fload(at.slot(v));
        } else {
          code.iload(at.slot(v));
        }
      }
      case Expr.Binary b -> binary(b, lane);
      case Expr.Unary u -> {
        value(u.a(), lane);
        switch (u.op()) {
          case NEG -> {
            if (isReal(u.type().dtype())) {
              code.fneg();
            } else {
              code.ineg();
            }
          }
          case NOT -> code.iconst_1().ixor();
          case BIT_NOT -> code.iconst_m1().ixor();
        }
      }
      case Expr.Select s -> {
        if (s.condition().type().lanes() != 1 && !(s.condition() instanceof Expr.Broadcast)) {
          throw new RegionPlan.Unsupported("a select by lanes");
        }
        Label no = code.newLabel();
        Label end = code.newLabel();
        value(s.condition(), lane);
        code.ifeq(no);
        value(s.then(), lane);
        code.goto_(end).labelBinding(no);
        value(s.otherwise(), lane);
        code.labelBinding(end);
      }
      case Expr.Cast c -> cast(c, lane);
      case Expr.Load load -> load(load, lane);
      case Expr.Ramp ramp -> {
        value(ramp.base(), 0);
        code.loadConstant(Math.toIntExact(ramp.stride() * lane)).iadd();
      }
      case Expr.Broadcast b -> value(b.value(), 0);
      case Expr.Call call -> call(call, lane);
      case Expr.Bitcast _, Expr.AddressOf _ -> throw new RegionPlan.Unsupported("a bitcast");
    }
  }

  private void binary(Expr.Binary b, int lane) {
    DType dtype = b.a().type().dtype();
    if (isReal(dtype)) {
      realBinary(b, lane);
      return;
    }
    if (b.b() instanceof Expr.IntImm imm && imm.value() > 0 && Long.bitCount(imm.value()) == 1) {
      int shift = Long.numberOfTrailingZeros(imm.value());
      if (b.op() == BinaryOp.DIV) {
        value(b.a(), lane);
        code.loadConstant(shift).ishr();
        return;
      }
      if (b.op() == BinaryOp.MOD) {
        value(b.a(), lane);
        code.loadConstant((int) imm.value() - 1).iand();
        return;
      }
    }
    value(b.a(), lane);
    value(b.b(), lane);
    switch (b.op()) {
      case ADD -> code.iadd();
      case SUB -> code.isub();
      case MUL -> code.imul();
      case DIV -> code.invokestatic(MATH, "floorDiv", INT_INT_INT);
      case MOD -> code.invokestatic(MATH, "floorMod", INT_INT_INT);
      case MIN -> code.invokestatic(MATH, "min", INT_INT_INT);
      case MAX -> code.invokestatic(MATH, "max", INT_INT_INT);
      case BIT_AND, AND -> code.iand();
      case BIT_OR, OR -> code.ior();
      case BIT_XOR -> code.ixor();
      case SHL -> code.ishl();
      case SHR -> code.ishr();
      case EQ, NE, LT, LE, GT, GE -> comparison(b.op());
    }
  }

  /** Two integers become a boolean. */
  private void comparison(BinaryOp op) {
    Label yes = code.newLabel();
    Label end = code.newLabel();
    switch (op) {
      case EQ -> code.if_icmpeq(yes);
      case NE -> code.if_icmpne(yes);
      case LT -> code.if_icmplt(yes);
      case LE -> code.if_icmple(yes);
      case GT -> code.if_icmpgt(yes);
      case GE -> code.if_icmpge(yes);
      case ADD, SUB, MUL, DIV, MOD, MIN, MAX, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, AND, OR ->
          throw new IllegalArgumentException(op.text());
    }
    code.iconst_0().goto_(end).labelBinding(yes).iconst_1().labelBinding(end);
  }

  private void realBinary(Expr.Binary b, int lane) {
    if (b.a().type().dtype() != DType.F32) {
      throw new RegionPlan.Unsupported("arithmetic on " + b.a().type());
    }
    value(b.a(), lane);
    value(b.b(), lane);
    switch (b.op()) {
      case ADD -> code.fadd();
      case SUB -> code.fsub();
      case MUL -> code.fmul();
      case DIV -> code.fdiv();
      case MIN -> code.invokestatic(OPS, "min", TWO_FLOATS);
      case MAX -> code.invokestatic(OPS, "max", TWO_FLOATS);
      case EQ, NE -> {
        code.fcmpl().iconst_0();
        comparison(b.op());
      }
      case LT, LE -> {
        // NaN compares as greater, so that the answer is no.
        code.fcmpg().iconst_0();
        comparison(b.op());
      }
      case GT, GE -> {
        code.fcmpl().iconst_0();
        comparison(b.op());
      }
      case MOD, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, AND, OR ->
          throw new RegionPlan.Unsupported(b.op().text());
    }
  }

  private void cast(Expr.Cast c, int lane) {
    DType from = c.a().type().dtype();
    DType to = c.type().dtype();
    value(c.a(), lane);
    if (isReal(from) && isReal(to)) {
      if (to != DType.F32 && to != from) {
        round(to);
      }
    } else if (isReal(to)) {
      code.i2f();
      if (to != DType.F32) {
        throw new RegionPlan.Unsupported("an integer to " + to);
      }
    } else if (isReal(from)) {
      if (to != DType.I32) {
        throw new RegionPlan.Unsupported("a float to " + to);
      }
      code.f2i();
    } else if (to == DType.BOOL && from != DType.BOOL) {
      code.iconst_0();
      comparison(BinaryOp.NE);
    }
  }

  private void round(DType to) {
    code.invokestatic(
        OPS, to == DType.F16 ? "toF16" : "toBf16", MethodTypeDesc.of(CD_float, CD_float));
  }

  private void call(Expr.Call call, int lane) {
    if (!(call.op() instanceof MathOp op) || call.type().dtype() != DType.F32) {
      throw new RegionPlan.Unsupported(call.op().text());
    }
    call.args().forEach(a -> value(a, lane));
    new LaneArithmetic(code).function(op, DType.F32);
  }

  private void load(Expr.Load load, int lane) {
    Integer place = offsets.get(load);
    int offset = place != null ? place : code.allocateLocal(TypeKind.INT);
    if (place == null || lane == 0) {
      offset(load.buffer(), load.indices(), load.type().lanes());
      code.istore(offset);
    }
    get(load.buffer(), offset, lane);
  }

  /** Pushes the offset of an element, or of the first of a vector, after checking all lanes. */
  void offset(Buffer buffer, List<Expr> indices, int lanes) {
    long[] strides = strides(buffer);
    boolean plain =
        lanes == 1 && buffer.scope() == Scope.LOCAL && buffer.rank() == 1 && strides[0] == 1;
    if (buffer.rank() == 0) {
      code.iconst_0();
      return;
    }
    boolean symbolic = Context.hasSymbolicRows(buffer);
    for (int d = 0; d < indices.size(); d++) {
      Expr index = indices.get(d);
      boolean last = d == indices.size() - 1;
      if (d > 0 && symbolic) {
        value(buffer.shape().get(d), 0);
        code.imul();
      }
      if (index instanceof Expr.Ramp ramp) {
        if (!last || ramp.stride() != 1 || (!symbolic && strides[d] != 1)) {
          throw new RegionPlan.Unsupported("a vector with a stride");
        }
        value(ramp.base(), 0);
      } else if (index.type().lanes() != 1) {
        throw new RegionPlan.Unsupported("a gathered vector");
      } else {
        value(index, 0);
      }
      if (!plain) {
        value(buffer.shape().get(d), 0);
        if (last && lanes > 1) {
          code.loadConstant(lanes - 1).isub();
        }
        code.invokestatic(OBJECTS, "checkIndex", INT_INT_INT);
      }
      if (!symbolic && strides[d] != 1) {
        code.loadConstant(Math.toIntExact(strides[d])).imul();
      }
      if (d > 0) {
        code.iadd();
      }
    }
    if (lanes > 1) {
      int bytes = buffer.dtype().bytes();
      int elements = Math.min(lanes * bytes, VECTOR_BYTES) / bytes;
      if (buffer.alignment() < elements * bytes || Integer.bitCount(elements) != 1) {
        throw new RegionPlan.Unsupported("a vector that is not aligned");
      }
      code.loadConstant(elements).invokestatic(STATE, "aligned", INT_INT_INT);
    }
  }

  private static long[] strides(Buffer buffer) {
    if (Context.hasSymbolicRows(buffer)) {
      return new long[buffer.rank()];
    }
    Layout layout = buffer.layout();
    long[] strides = MemoryAccess.linearStrides(buffer);
    if (strides == null) {
      throw new RegionPlan.Unsupported("layout " + layout);
    }
    return strides;
  }

  private void element(int offset, int lane) {
    code.iload(offset);
    if (lane > 0) {
      code.loadConstant(lane).iadd();
    }
  }

  private void touch(Buffer buffer, int offset, int lane) {
    if (at.written.contains(buffer)) {
      code.aload(at.states(buffer));
      element(offset, lane);
      code.iload(at.owner());
      code.invokestatic(
          STATE, "touch", MethodTypeDesc.of(CD_void, RegionCode.INTS, CD_int, CD_int));
    }
  }

  /** Pushes an element. */
  private void get(Buffer buffer, int offset, int lane) {
    DType dtype = buffer.dtype();
    if (buffer.scope() == Scope.GLOBAL) {
      int array = at.array(buffer);
      touch(buffer, offset, lane);
      code.aload(array);
      element(offset, lane);
      if (dtype == DType.BOOL) {
        code.baload();
        return;
      }
      code.loadConstant(dtype.bytes()).imul();
      String method =
          switch (dtype) {
            case F32 -> "getFloat";
            case I32 -> "getInt";
            default -> "getShort";
          };
      ClassDesc result =
          switch (dtype) {
            case F32 -> CD_float;
            case I32 -> CD_int;
            default -> java.lang.constant.ConstantDescs.CD_short;
          };
      code.invokestatic(BYTES, method, MethodTypeDesc.of(result, RegionCode.BYTES, CD_int));
      if (dtype == DType.F16 || dtype == DType.BF16) {
        code.invokestatic(
            OPS,
            dtype == DType.F16 ? "ofF16" : "ofBf16",
            MethodTypeDesc.of(CD_float, java.lang.constant.ConstantDescs.CD_short));
      }
      return;
    }
    if (buffer.scope() == Scope.SHARED) {
      Label fine = code.newLabel();
      code.aload(at.states(buffer));
      element(offset, lane);
      code.iaload().iload(at.many()).if_icmpeq(fine);
      code.aload(at.states(buffer));
      element(offset, lane);
      code.iload(at.me());
      code.invokestatic(STATE, "read", MethodTypeDesc.of(CD_void, RegionCode.INTS, CD_int, CD_int));
      code.labelBinding(fine);
    }
    code.aload(at.array(buffer));
    element(offset, lane);
    if (isReal(dtype)) {
      code.faload().invokestatic(STATE, "known", MethodTypeDesc.of(CD_float, CD_float));
    } else {
      code.iaload().invokestatic(STATE, "known", MethodTypeDesc.of(CD_int, CD_int));
    }
  }

  /** Stores what is in a slot. */
  void put(Buffer buffer, int offset, int lane, int value) {
    DType dtype = buffer.dtype();
    if (buffer.scope() == Scope.GLOBAL) {
      int array = at.array(buffer);
      touch(buffer, offset, lane);
      code.aload(array);
      element(offset, lane);
      code.loadConstant(dtype.bytes()).imul();
      if (isReal(dtype)) {
        code.fload(value);
        code.invokestatic(
            OPS,
            switch (dtype) {
              case F32 -> "putFloat";
              case F16 -> "putF16";
              default -> "putBf16";
            },
            MethodTypeDesc.of(CD_void, RegionCode.BYTES, CD_int, CD_float));
      } else if (dtype == DType.I32) {
        code.iload(value);
        code.invokestatic(
            BYTES, "putInt", MethodTypeDesc.of(CD_void, RegionCode.BYTES, CD_int, CD_int));
      } else {
        throw new RegionPlan.Unsupported("a store of " + dtype);
      }
      return;
    }
    if (buffer.scope() == Scope.SHARED) {
      code.aload(at.states(buffer));
      element(offset, lane);
      code.iload(at.me());
      code.invokestatic(
          STATE, "write", MethodTypeDesc.of(CD_void, RegionCode.INTS, CD_int, CD_int));
    }
    code.aload(at.array(buffer));
    element(offset, lane);
    if (isReal(dtype)) {
      code.fload(value).fastore();
    } else {
      code.iload(value).iastore();
    }
  }
}
