package dev.warpwright.jvm;

import static java.lang.constant.ConstantDescs.CD_int;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;

/** Writes conversions of vectors. */
final class VectorCasts {
  private static final ClassDesc CONVERSION = JvmTypes.OPERATORS.nested("Conversion");

  private final VectorEmitter vectors;
  private final CodeBuilder code;
  private final NarrowFloats narrow;

  VectorCasts(VectorEmitter vectors, CodeBuilder code, NarrowFloats narrow) {
    this.narrow = narrow;
    this.vectors = vectors;
    this.code = code;
  }

  void cast(Expr.Cast c) {
    DType from = c.a().type().dtype();
    DType to = c.type().dtype();
    vectors.emit(c.a());
    if (from == to) {
      return;
    }
    boolean fromFloat = from == DType.F32 || from == DType.F16 || from == DType.BF16;
    if (fromFloat && to == DType.F32) {
      return; // held as f32 already
    }
    if (from == DType.F32 && (to == DType.BF16 || to == DType.F16)) {
      narrow.round(to);
      return;
    }
    if (from == DType.F32 && to == DType.I32) {
      convert("F2I", c.type());
    } else if (from == DType.I32 && to == DType.F32) {
      convert("I2F", c.type());
    } else if (from == DType.F64 && to == DType.I64) {
      convert("D2L", c.type());
    } else if (from == DType.I64 && to == DType.F64) {
      convert("L2D", c.type());
    } else if (from == DType.F32 && to == DType.F64) {
      convert("F2D", c.type());
    } else if (from == DType.F64 && to == DType.F32) {
      convert("D2F", c.type());
    } else if (from.isInt() && to.isInt() && from.bits() == to.bits()) {
      return;
    } else {
      throw JvmTypes.refused("a vector cast from " + from + " to " + to);
    }
  }

  private void convert(String conversion, Type to) {
    code.getstatic(JvmTypes.OPERATORS, conversion, CONVERSION);
    vectors.species(to);
    code.loadConstant(0)
        .invokevirtual(
            JvmTypes.VECTOR,
            "convertShape",
            MethodTypeDesc.of(JvmTypes.VECTOR, CONVERSION, JvmTypes.SPECIES, CD_int))
        .checkcast(JvmTypes.vectorDesc(to.dtype()));
  }

  void bitcast(Type from, Type to) {
    boolean narrow =
        from.dtype() == DType.F16
            || from.dtype() == DType.BF16
            || to.dtype() == DType.F16
            || to.dtype() == DType.BF16;
    if (narrow || from.lanes() != to.lanes()) {
      throw JvmTypes.refused("a bitcast from " + from + " to " + to);
    }
    ClassDesc target = JvmTypes.vectorDesc(to.dtype());
    ClassDesc source = JvmTypes.vectorDesc(from.dtype());
    if (target.equals(source)) {
      return;
    }
    String name =
        switch (to.dtype()) {
          case F32 -> "reinterpretAsFloats";
          case F64 -> "reinterpretAsDoubles";
          case I32, U32 -> "reinterpretAsInts";
          default -> "reinterpretAsLongs";
        };
    code.invokevirtual(source, name, MethodTypeDesc.of(target));
  }
}
