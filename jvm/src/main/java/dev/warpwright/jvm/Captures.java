package dev.warpwright.jvm;

import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;

import dev.warpwright.ir.Var;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;

/** Scalars as longs, the form in which a parallel body keeps what it captured. */
final class Captures {
  private static final ClassDesc FLOAT = ClassDesc.of("java.lang", "Float");
  private static final ClassDesc DOUBLE = ClassDesc.of("java.lang", "Double");

  private Captures() {}

  static void toLong(CodeBuilder code, Var v) {
    if (!v.type().isScalar()) {
      throw JvmTypes.refused("a parallel loop that uses the vector " + v.name() + " from outside");
    }
    switch (JvmTypes.scalarKind(v.type().dtype())) {
      case INT -> code.i2l();
      case FLOAT ->
          code.invokestatic(FLOAT, "floatToRawIntBits", MethodTypeDesc.of(CD_int, CD_float)).i2l();
      case DOUBLE ->
          code.invokestatic(DOUBLE, "doubleToRawLongBits", MethodTypeDesc.of(CD_long, CD_double));
      case LONG, BOOLEAN, BYTE, CHAR, SHORT, REFERENCE, VOID -> {}
    }
  }

  static void fromLong(CodeBuilder code, Var v) {
    switch (JvmTypes.scalarKind(v.type().dtype())) {
      case INT -> code.l2i();
      case FLOAT ->
          code.l2i().invokestatic(FLOAT, "intBitsToFloat", MethodTypeDesc.of(CD_float, CD_int));
      case DOUBLE ->
          code.invokestatic(DOUBLE, "longBitsToDouble", MethodTypeDesc.of(CD_double, CD_long));
      case LONG, BOOLEAN, BYTE, CHAR, SHORT, REFERENCE, VOID -> {}
    }
  }
}
