package dev.warpwright.ir;

import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.ir.type.Type;
import java.util.List;

/**
 * A side-effect-free expression (intrinsic calls aside). Trees are immutable; record equality
 * compares them with variables and buffers by identity. Meaning, overflow and rounding are stated
 * in the package documentation.
 */
public sealed interface Expr
    permits Var,
        Expr.IntImm,
        Expr.FloatImm,
        Expr.Binary,
        Expr.Unary,
        Expr.Select,
        Expr.Cast,
        Expr.Bitcast,
        Expr.Load,
        Expr.AddressOf,
        Expr.Ramp,
        Expr.Broadcast,
        Expr.Call {
  /** {@return the type of what it gives} */
  Type type();

  /**
   * An integer or boolean constant; a boolean is 0 or 1. Scalar.
   *
   * @param type an integer type or bool, scalar
   * @param value within the type's range
   */
  record IntImm(Type type, long value) implements Expr {
    /** Checks type and range. */
    public IntImm {
      if (!type.isScalar() || !(type.dtype().isInt() || type.dtype() == DType.BOOL)) {
        throw new IllegalArgumentException("no integer constant of type " + type);
      }
    }
  }

  /**
   * A floating-point constant, already rounded to the type. Scalar.
   *
   * @param type a floating-point type, scalar
   * @param value rounded to it
   */
  record FloatImm(Type type, double value) implements Expr {
    /** Checks the type. */
    public FloatImm {
      if (!type.isScalar() || !type.dtype().isFloat()) {
        throw new IllegalArgumentException("no float constant of type " + type);
      }
      value = Numerics.round(type.dtype(), value);
    }
  }

  /**
   * Both operands have one type; a comparison gives bool with as many lanes.
   *
   * @param op the operator
   * @param a first operand
   * @param b second operand
   */
  record Binary(BinaryOp op, Expr a, Expr b) implements Expr {
    /** Checks that the types are equal and that the operator takes them. */
    public Binary {
      if (!a.type().equals(b.type())) {
        throw new IllegalArgumentException(
            "operands of " + op.text() + " differ: " + a.type() + " and " + b.type());
      }
    }

    @Override
    public Type type() {
      return op.isComparison() ? a.type().withDType(DType.BOOL) : a.type();
    }
  }

  /**
   * Negation, or logical or bitwise not.
   *
   * @param op the operator
   * @param a operand
   */
  record Unary(UnaryOp op, Expr a) implements Expr {
    @Override
    public Type type() {
      return a.type();
    }
  }

  /**
   * {@code condition ? then : otherwise}, lane by lane; only the chosen side's loads happen.
   *
   * @param condition bool, with as many lanes
   * @param then where it holds
   * @param otherwise where it does not
   */
  record Select(Expr condition, Expr then, Expr otherwise) implements Expr {
    /** Checks that types and lanes fit. */
    public Select {
      if (condition.type().dtype() != DType.BOOL || !then.type().equals(otherwise.type())) {
        throw new IllegalArgumentException(
            "select needs bool and two of one type, not "
                + condition.type()
                + ", "
                + then.type()
                + ", "
                + otherwise.type());
      }
    }

    @Override
    public Type type() {
      return then.type();
    }
  }

  /**
   * Conversion of value; lanes stay.
   *
   * @param type of the result
   * @param a what is converted
   */
  record Cast(Type type, Expr a) implements Expr {
    /** Checks that the lanes are as many. */
    public Cast {
      if (type.lanes() != a.type().lanes()) {
        throw new IllegalArgumentException("cast from " + a.type() + " to " + type);
      }
    }
  }

  /**
   * The same bits read as another type of the same width.
   *
   * @param type of the result
   * @param a whose bits are read
   */
  record Bitcast(Type type, Expr a) implements Expr {
    /** Checks that the bits are as many. */
    public Bitcast {
      if (type.lanes() * type.dtype().bits() != a.type().lanes() * a.type().dtype().bits()) {
        throw new IllegalArgumentException("bitcast from " + a.type() + " to " + type);
      }
    }
  }

  /**
   * An element; several, when the last index is a vector.
   *
   * @param buffer that is read
   * @param indices one for each dimension; only the last may be a vector
   */
  record Load(Buffer buffer, List<Expr> indices) implements Expr {
    /** Checks the indices. */
    public Load {
      indices = List.copyOf(indices);
      if (indices.size() != buffer.rank()) {
        throw new IllegalArgumentException(
            "load of "
                + buffer.name()
                + " with "
                + indices.size()
                + " indices, its rank is "
                + buffer.rank());
      }
    }

    @Override
    public Type type() {
      int lanes = indices.isEmpty() ? 1 : indices.getLast().type().lanes();
      return new Type(buffer.dtype(), lanes);
    }
  }

  /**
   * Address of an element, only as an argument of an intrinsic.
   *
   * @param buffer that is pointed into
   * @param indices one for each dimension, scalar
   */
  record AddressOf(Buffer buffer, List<Expr> indices) implements Expr {
    /** Checks the indices. */
    public AddressOf {
      indices = List.copyOf(indices);
      if (indices.size() != buffer.rank()) {
        throw new IllegalArgumentException(
            "address in "
                + buffer.name()
                + " with "
                + indices.size()
                + " indices, its rank is "
                + buffer.rank());
      }
    }

    @Override
    public Type type() {
      return Type.HANDLE;
    }
  }

  /**
   * The vector {@code base, base + stride, …}; the base is a scalar integer.
   *
   * @param base of lane 0
   * @param stride from lane to lane, in elements
   * @param lanes at least 2
   */
  record Ramp(Expr base, long stride, int lanes) implements Expr {
    /** Checks the base and the lanes. */
    public Ramp {
      if (!base.type().isScalar() || !base.type().dtype().isInt() || lanes < 2) {
        throw new IllegalArgumentException("ramp of " + lanes + " lanes from " + base.type());
      }
    }

    @Override
    public Type type() {
      return base.type().withLanes(lanes);
    }
  }

  /**
   * A scalar in every lane.
   *
   * @param value scalar
   * @param lanes at least 2
   */
  record Broadcast(Expr value, int lanes) implements Expr {
    /** Checks the value and the lanes. */
    public Broadcast {
      if (!value.type().isScalar() || lanes < 2) {
        throw new IllegalArgumentException(
            "broadcast of " + value.type() + " to " + lanes + " lanes");
      }
    }

    @Override
    public Type type() {
      return value.type().withLanes(lanes);
    }
  }

  /**
   * A mathematical function, or an intrinsic that gives a value or is evaluated for its effect.
   *
   * @param op what is called
   * @param args as many as it takes
   * @param type of the result
   */
  record Call(Op op, List<Expr> args, Type type) implements Expr {
    /** Copies the list. */
    public Call {
      args = List.copyOf(args);
    }
  }
}
