package dev.warpwright.sim.lane;

import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_short;
import static java.lang.constant.ConstantDescs.CD_void;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Layout.Swizzle;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.sim.counter.Counting;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.MemoryAccess;
import dev.warpwright.sim.memory.Bytes;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Accesses of one lane to memory as bytecode; they mean and check what {@link MemoryAccess} says.
 */
final class LaneAccess {
  private static final ClassDesc CODE = LaneExprs.CODE;
  private static final ClassDesc BYTES = ClassDesc.ofDescriptor(Bytes.class.descriptorString());
  private static final ClassDesc SITE =
      ClassDesc.ofDescriptor(Counting.Site.class.descriptorString());
  private static final ClassDesc NUMERICS = ClassDesc.of(Numerics.class.getName());
  private static final int VECTOR_BYTES = 16;

  private final LaneScope at;
  private final LaneExprs exprs;
  private final CodeBuilder code;

  LaneAccess(LaneScope at, LaneExprs exprs) {
    this.at = at;
    this.exprs = exprs;
    this.code = at.code;
  }

  /** Pushes an element. */
  void load(Expr.Load load) {
    Buffer b = load.buffer();
    int offset = checkedOffset(b, load.indices(), true);
    shadow(b, offset, "read");
    code.aload(at.memory(b));
    get(b.dtype(), offset);
  }

  /**
   * Checks and records a write.
   *
   * @return the slot of the element's offset
   */
  int write(Buffer b, List<Expr> indices) {
    int offset = checkedOffset(b, indices, false);
    shadow(b, offset, "write");
    return offset;
  }

  private void shadow(Buffer b, int offset, String access) {
    code.aload(at.shadow(b)).aload(at.frame()).iload(offset);
    code.invokestatic(
        CODE, access, MethodTypeDesc.of(CD_void, LaneScope.SHADOW, LaneScope.FRAME, CD_int));
  }

  /** Computes the offset of an element into a new slot, checked, and counts the access. */
  private int checkedOffset(Buffer b, List<Expr> indices, boolean reads) {
    int lanes = indices.isEmpty() ? 1 : indices.getLast().type().lanes();
    int slot = code.allocateLocal(TypeKind.INT);
    offset(b, coordinates(b, indices, true));
    if (lanes > 1) {
      requireVector(b, lanes);
    }
    code.l2i().istore(slot);
    if (at.context.counts() && (b.scope() == Scope.SHARED || b.scope() == Scope.GLOBAL)) {
      request(b, lanes, slot, reads);
    }
    return slot;
  }

  /** Checks the offset that has been pushed, of an element of a vector. */
  private void requireVector(Buffer b, int lanes) {
    int bytes = b.dtype().bytes();
    int elements = Math.min(lanes * bytes, VECTOR_BYTES) / bytes;
    if (b.alignment() < elements * bytes) {
      code.pop2().lconst_1().loadConstant(2);
      code.invokestatic(CODE, "aligned", MethodTypeDesc.of(CD_long, CD_long, CD_int));
      return;
    }
    int before = at.previous();
    Label begins = code.newLabel();
    Label end = code.newLabel();
    at.loadElement();
    code.loadConstant(elements).irem().ifeq(begins);
    code.lload(before).invokestatic(CODE, "next", MethodTypeDesc.of(CD_long, CD_long, CD_long));
    code.goto_(end).labelBinding(begins).loadConstant(elements);
    code.invokestatic(CODE, "aligned", MethodTypeDesc.of(CD_long, CD_long, CD_int));
    code.labelBinding(end).dup2().lstore(before);
  }

  private void request(Buffer b, int lanes, int offset, boolean reads) {
    Label end = code.newLabel();
    at.loadElement();
    code.ifne(end);
    Counting.Kind kind =
        b.scope() == Scope.SHARED
            ? reads ? Counting.Kind.SHARED_LOAD : Counting.Kind.SHARED_STORE
            : reads ? Counting.Kind.GLOBAL_LOAD : Counting.Kind.GLOBAL_STORE;
    Counting.Site site = new Counting.Site(at.where(), kind, at.context.symbols().slot(b));
    at.fromTable("sites", SITE, at.builder.site(site));
    code.aload(at.frame()).iload(offset).i2l();
    code.loadConstant(b.dtype().bytes()).loadConstant(lanes * b.dtype().bytes());
    code.invokestatic(
        CODE,
        "request",
        MethodTypeDesc.of(CD_void, SITE, LaneScope.FRAME, CD_long, CD_int, CD_int));
    code.labelBinding(end);
  }

  /**
   * Computes coordinates.
   *
   * @param checked whether those outside are suspicious
   * @return slots of {@code long}
   */
  List<Integer> coordinates(Buffer b, List<Expr> indices, boolean checked) {
    List<Integer> slots = new ArrayList<>();
    for (int d = 0; d < indices.size(); d++) {
      exprs.index(indices.get(d));
      if (checked) {
        extent(b, d);
        code.invokestatic(CODE, "inside", MethodTypeDesc.of(CD_long, CD_long, CD_long));
      }
      int slot = code.allocateLocal(TypeKind.LONG);
      code.lstore(slot);
      slots.add(slot);
    }
    return slots;
  }

  /** Pushes an extent of a buffer. */
  void extent(Buffer b, int d) {
    if (b.shape().get(d) instanceof Expr.IntImm imm) {
      code.loadConstant(imm.value());
    } else {
      code.aload(at.frame()).loadConstant(at.context.symbols().slot(b)).loadConstant(d);
      code.invokestatic(
          CODE, "extent", MethodTypeDesc.of(CD_long, LaneScope.FRAME, CD_int, CD_int));
    }
  }

  /** Pushes the offset of an element in its buffer's storage. */
  void offset(Buffer b, List<Integer> coordinates) {
    if (coordinates.isEmpty()) {
      code.lconst_0();
      return;
    }
    long[] strides = Context.hasSymbolicRows(b) ? null : MemoryAccess.linearStrides(b);
    if (strides == null && !Context.hasSymbolicRows(b)) {
      layoutOffset(Objects.requireNonNull(b.layout()), coordinates);
      return;
    }
    for (int d = 0; d < coordinates.size(); d++) {
      if (d > 0 && strides == null) {
        extent(b, d);
        code.lmul();
      }
      code.lload(coordinates.get(d));
      if (strides != null && strides[d] != 1) {
        code.loadConstant(strides[d]).lmul();
      }
      if (d > 0) {
        code.ladd();
      }
    }
  }

  private void layoutOffset(Layout layout, List<Integer> coordinates) {
    code.lconst_0();
    for (int d = 0; d < coordinates.size(); d++) {
      List<Mode> modes = layout.dimensions().get(d);
      long below = 1;
      for (int m = 0; m < modes.size(); m++) {
        Mode mode = modes.get(m);
        code.lload(coordinates.get(d));
        if (below != 1) {
          code.loadConstant(below).ldiv();
        }
        if (m < modes.size() - 1) {
          code.loadConstant(mode.extent()).lrem();
        }
        code.loadConstant(mode.stride()).lmul().ladd();
        below *= mode.extent();
      }
    }
    Swizzle swizzle = layout.swizzle();
    if (!swizzle.isIdentity()) {
      long mask = ((1L << swizzle.bits()) - 1) << (swizzle.base() + swizzle.shift());
      code.dup2().loadConstant(mask).land().loadConstant(swizzle.shift()).lshr().lxor();
    }
  }

  /** Pushes the element of the storage that has been pushed. */
  private void get(DType dtype, int offset) {
    code.iload(offset);
    if (dtype.bytes() > 1) {
      code.loadConstant(dtype.bytes()).imul();
    }
    switch (dtype) {
      case F32 -> bytes("getFloat", CD_float);
      case F64 -> bytes("getDouble", CD_double);
      case I32 -> {
        bytes("getInt", CD_int);
        code.i2l();
      }
      case U32 -> {
        bytes("getInt", CD_int);
        code.i2l().loadConstant(0xFFFF_FFFFL).land();
      }
      case F16, BF16 -> {
        bytes("getShort", CD_short);
        code.invokestatic(
            NUMERICS,
            dtype == DType.F16 ? "f16ToFloat" : "bf16ToFloat",
            MethodTypeDesc.of(CD_float, CD_short));
      }
      case F8E4M3, F8E5M2 -> {
        code.loadConstant(dtype.ordinal());
        code.invokestatic(
            CODE, "real", MethodTypeDesc.of(CD_double, LaneScope.BYTES, CD_int, CD_int));
        code.d2f();
      }
      case BOOL, I8, U8, I64, U64, MBARRIER, HANDLE -> {
        code.loadConstant(dtype.ordinal());
        code.invokestatic(
            CODE, "integer", MethodTypeDesc.of(CD_long, LaneScope.BYTES, CD_int, CD_int));
      }
    }
  }

  private void bytes(String method, ClassDesc type) {
    code.invokestatic(BYTES, method, MethodTypeDesc.of(type, LaneScope.BYTES, CD_int));
  }

  /** Pushes the bits of an element. */
  void bits(Buffer b, int offset) {
    code.aload(at.memory(b)).iload(offset).loadConstant(b.dtype().bytes()).imul();
    code.loadConstant(b.dtype().ordinal());
    code.invokestatic(CODE, "bits", MethodTypeDesc.of(CD_long, LaneScope.BYTES, CD_int, CD_int));
  }

  /**
   * Stores a value.
   *
   * @param value pushes it, as {@link LaneExprs#value} does or, if {@code pending}, as frames keep
   *     it: {@code long} or {@code double}
   */
  void put(Buffer b, int offset, boolean pending, Runnable value) {
    DType dtype = b.dtype();
    code.aload(at.memory(b)).iload(offset);
    if (dtype.bytes() > 1) {
      code.loadConstant(dtype.bytes()).imul();
    }
    value.run();
    boolean real = dtype.isFloat();
    if (dtype == DType.F32) {
      if (pending) {
        code.d2f();
      }
      code.invokestatic(
          BYTES, "putFloat", MethodTypeDesc.of(CD_void, LaneScope.BYTES, CD_int, CD_float));
    } else {
      if (real && !pending && dtype != DType.F64) {
        code.f2d();
      }
      code.loadConstant(dtype.ordinal());
      code.invokestatic(
          CODE,
          real ? "putReal" : "putInteger",
          MethodTypeDesc.of(CD_void, LaneScope.BYTES, CD_int, real ? CD_double : CD_long, CD_int));
    }
  }
}
