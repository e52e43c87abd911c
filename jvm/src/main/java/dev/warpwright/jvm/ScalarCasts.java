package dev.warpwright.jvm;

import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;

import dev.warpwright.ir.type.DType;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;

/** Writes conversions of the scalar on the stack. */
final class ScalarCasts {
  private static final ClassDesc FLOAT = ClassDesc.of("java.lang", "Float");
  private static final ClassDesc DOUBLE = ClassDesc.of("java.lang", "Double");

  private final ScalarEmitter scalars;
  private final CodeBuilder code;

  ScalarCasts(ScalarEmitter scalars, CodeBuilder code) {
    this.scalars = scalars;
    this.code = code;
  }

  /** The value on the stack becomes one of another type. */
  void cast(DType from, DType to) {
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
        ScalarEmitter.helper(code, name, CD_float, CD_double);
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

  /** The value on the stack becomes an f64. */
  void toDouble(DType from) {
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
          ScalarEmitter.helper(code, "fromU64", CD_double, CD_long);
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
          scalars.wrap(to);
        }
      }
      case LONG -> {
        if (to != DType.I64 && to != DType.U64) {
          code.l2i();
          scalars.wrap(to);
        }
      }
      case FLOAT, DOUBLE -> {
        toDouble(from);
        switch (to) {
          case I32 -> code.d2i();
          case I64 -> code.d2l();
          case U32 -> ScalarEmitter.helper(code, "toU32", CD_int, CD_double);
          case U64 -> ScalarEmitter.helper(code, "toU64", CD_long, CD_double);
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
    ScalarEmitter.helper(code, "toInt", CD_int, CD_double, CD_int, CD_int);
  }

  /** The bits of the value on the stack become a value of another type. */
  void bitcast(DType from, DType to) {
    TypeKind source = JvmTypes.scalarKind(from);
    TypeKind target = JvmTypes.scalarKind(to);
    if (source == TypeKind.FLOAT && from != DType.F32
        || target == TypeKind.FLOAT && to != DType.F32) {
      throw JvmTypes.refused("a bitcast from " + from + " to " + to);
    }
    if (source == target) {
      scalars.wrap(to);
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
}
