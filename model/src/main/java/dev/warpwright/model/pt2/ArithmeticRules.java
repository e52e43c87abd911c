package dev.warpwright.model.pt2;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.onnx.Proto.Attribute;
import java.util.List;
import java.util.Map;

/** Arithmetic, comparisons and choices, element by element. */
final class ArithmeticRules {
  private ArithmeticRules() {}

  static void unary(AtenCall call, String op) {
    call.last(op, call.tensor("self"));
  }

  /** {@code self op alpha · other}; numbers and other types are converted to the result's. */
  static void binary(AtenCall call, String op) {
    DType type = call.outputType();
    call.last(op, call.operand("self", type), scaled(call, "other", type));
  }

  /** {@code other − alpha · self}. */
  static void reverseSub(AtenCall call) {
    DType type = call.outputType();
    call.last("Sub", call.operand("other", type), scaled(call, "self", type));
  }

  private static String scaled(AtenCall call, String name, DType type) {
    String operand = call.operand(name, type);
    double alpha = call.number("alpha", 1);
    return alpha == 1 ? operand : call.step("Mul", operand, call.scalar(alpha, type));
  }

  static void divide(AtenCall call) {
    switch (call.text("rounding_mode", "")) {
      case "" -> binary(call, "Div");
      case "floor" -> floorDivide(call);
      default -> throw call.error("rounding_mode must be None or 'floor'");
    }
  }

  static void floorDivide(AtenCall call) {
    DType type = call.outputType();
    call.last("Floor", call.step("Div", call.operand("self", type), call.operand("other", type)));
  }

  static void power(AtenCall call) {
    DType type = call.outputType();
    call.last("Pow", call.operand("self", type), call.operand("exponent", type));
  }

  static void square(AtenCall call) {
    call.last("Mul", call.tensor("self"), call.tensor("self"));
  }

  static void reciprocalRoot(AtenCall call) {
    call.last("Reciprocal", call.step("Sqrt", call.tensor("self")));
  }

  static void logOfOneMore(AtenCall call) {
    String x = call.tensor("self");
    call.last("Log", call.step("Add", x, call.scalar(1, call.dtype(x))));
  }

  static void exponentialLessOne(AtenCall call) {
    String x = call.tensor("self");
    call.last("Sub", call.step("Exp", x), call.scalar(1, call.dtype(x)));
  }

  /** {@code self + value · tensor1 op tensor2}. */
  static void addCombined(AtenCall call, String op) {
    DType type = call.outputType();
    String both = call.step(op, call.operand("tensor1", type), call.operand("tensor2", type));
    double value = call.number("value", 1);
    String scaled = value == 1 ? both : call.step("Mul", both, call.scalar(value, type));
    call.last("Add", call.operand("self", type), scaled);
  }

  /** {@code self + weight · (end − self)}. */
  static void interpolate(AtenCall call) {
    DType type = call.outputType();
    String self = call.operand("self", type);
    String distance = call.step("Sub", call.operand("end", type), self);
    call.last("Add", self, call.step("Mul", distance, call.operand("weight", type)));
  }

  static void clamp(AtenCall call) {
    DType type = call.outputType();
    String x = call.operand("self", type);
    if (call.isTensor("min") || call.isTensor("max")) {
      String atLeast = call.has("min") ? call.step("Max", x, call.operand("min", type)) : x;
      call.last("Min", atLeast, call.has("max") ? call.operand("max", type) : atLeast);
      return;
    }
    bounded(
        call,
        x,
        call.number("min", Double.NEGATIVE_INFINITY),
        call.number("max", Double.POSITIVE_INFINITY));
  }

  /** A node that keeps x between two numbers, of which either may be infinite. */
  static void bounded(AtenCall call, String x, double min, double max) {
    DType type = call.dtype(x);
    String least = min == Double.NEGATIVE_INFINITY ? "" : call.scalar(min, type);
    String most = max == Double.POSITIVE_INFINITY ? "" : call.scalar(max, type);
    if (least.isEmpty() && most.isEmpty()) {
      call.last("Identity", x);
    } else {
      call.last("Clip", x, least, most);
    }
  }

  /** Compares in the type of {@code self}, or in that of the other if it is the wider one. */
  static void compare(AtenCall call, String op) {
    DType type = call.dtype(call.tensor("self"));
    if (call.isTensor("other") && call.dtype(call.tensor("other")).bits() > type.bits()) {
      type = call.dtype(call.tensor("other"));
    }
    String self = call.operand("self", type);
    String other = call.operand("other", type);
    if (op.equals("NotEqual")) {
      call.last("Not", call.step("Equal", self, other));
    } else {
      call.last(op, self, other);
    }
  }

  static void logic(AtenCall call, String op) {
    String self = call.cast(call.tensor("self"), DType.BOOL);
    if (op.equals("Not")) {
      call.last(op, self);
    } else {
      call.last(op, self, call.cast(call.tensor("other"), DType.BOOL));
    }
  }

  static void where(AtenCall call) {
    DType type = call.outputType();
    call.last(
        "Where", call.tensor("condition"), call.operand("self", type), call.operand("other", type));
  }

  static void maskedFill(AtenCall call) {
    DType type = call.outputType();
    call.last(
        "Where", call.tensor("mask"), call.operand("value", type), call.operand("self", type));
  }

  /** Converts to the type that the output is said to have. */
  static void convert(AtenCall call, String argument) {
    String converted = call.cast(call.tensor(argument), call.outputType());
    call.last("Identity", List.of(converted), Map.<String, Attribute>of());
  }
}
